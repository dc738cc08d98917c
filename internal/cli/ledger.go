package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"dither/internal/ledger"
)

// runLedger reads and checks the ledger, and takes questions again after failures, for the owner.
func runLedger(s *session, args []string) error {
	s.formatFlag()
	against, into := s.flags.String("against", "", ""), s.flags.String("into", "", "")
	rows := s.flags.Int64("rows", 0, "")
	rest, helped, err := s.parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) == 0 {
		return usage("ledger head, list, show N, verify [--against HEAD], merge HOME HOME [--rows N] [--into HOME], or resume")
	}
	switch {
	case rest[0] == "verify" && len(rest) == 1:
		return s.verifyLedger(*against)
	case rest[0] == "merge":
		return s.mergeLedgers(rest[1:], *rows, *into)
	case rest[0] == "head" && len(rest) == 1:
		return s.withLedger(func(l *ledger.Ledger) error {
			s.print("%s\n", l.Head())
			return nil
		})
	case rest[0] == "resume" && len(rest) == 1:
		return s.withLedger(func(l *ledger.Ledger) error { return l.Resume() })
	case rest[0] == "list" && len(rest) == 1:
		return s.withLedger(s.listLedger)
	case rest[0] == "show" && len(rest) == 2:
		n, err := strconv.ParseUint(rest[1], 10, 64)
		if err != nil {
			return usage("ledger show takes an entry's number, not %q", rest[1])
		}
		return s.withLedger(func(l *ledger.Ledger) error { return s.showEntry(l, n) })
	}
	return usage("ledger head, list, show N, verify [--against HEAD], merge HOME HOME [--rows N] [--into HOME], or resume")
}

func (s *session) withLedger(do func(*ledger.Ledger) error) error {
	l, err := ledger.Open(s.home, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(do(l), l.Close())
}

// verifyLedger checks every rule of the ledger, and that it still holds a head that was kept elsewhere.
func (s *session) verifyLedger(against string) error {
	var head *ledger.Head
	if against != "" {
		h, err := ledger.ParseHead(against)
		if err != nil {
			return usage("--against takes what `dither ledger head` printed: %v", err)
		}
		head = &h
	}
	r, err := ledger.Verify(s.home, head)
	if err != nil {
		return err
	}
	if s.format == "json" {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		s.print("%s\n", printableJSON(text))
		return nil
	}
	s.print("%d entries, the chain holds\n", r.Entries)
	if r.Behind > 0 {
		s.print("the head file is %d behind: a process stopped in between\n", r.Behind)
	}
	if r.Fragment > 0 {
		cost := "it was never acknowledged, and costs nothing"
		if r.Charged {
			cost = "its price counts as spent"
		}
		s.print("the last %d bytes are a torn entry: %s\n", r.Fragment, cost)
	}
	if head != nil {
		s.print("the checkpoint %d is in it\n", head.Index)
	}
	s.print("spent %s of %s\n", r.State.Spent, r.State.Budget)
	return nil
}

// listLedger prints a line for each entry.
func (s *session) listLedger(l *ledger.Ledger) error {
	if s.format == "json" {
		return l.Entries(func(e ledger.Entry) error {
			text, err := json.Marshal(e)
			s.print("%s\n", printableJSON(text))
			return err
		})
	}
	var g grid
	g.add("entry", "time", "kind", "loss", "")
	err := l.Entries(func(e ledger.Entry) error {
		loss, about := summary(e.Body)
		g.add(strconv.FormatUint(e.Index, 10), e.Time.UTC().Format(time.RFC3339), string(e.Kind), loss, printable(about))
		return nil
	})
	s.print("%s", g.text("  "))
	return err
}

// summary is a body in a few words.
func summary(b ledger.Body) (loss, about string) {
	switch b := b.(type) {
	case ledger.Genesis:
		return "", "ledger " + b.ID
	case ledger.Adoption:
		about = fmt.Sprintf("policy of %s, budget %s", b.Terms.Population, b.Terms.Budget)
		if b.Group > 1 {
			about += fmt.Sprintf(", losses before count as for a group of %d", b.Group)
		}
		return "", about
	case ledger.Seal:
		return "", fmt.Sprintf("%s version %d", b.Table, b.Version)
	case ledger.Reservation:
		about = shorten(b.Question, 80)
		if b.Analyst != "" {
			about = b.Analyst + ": " + about
		}
		if c := b.Caps; c != nil && c.Rows > 0 {
			about += fmt.Sprintf(" --max-rows %d", c.Rows)
		}
		if c := b.Caps; c != nil && c.Groups > 0 {
			about += fmt.Sprintf(" --max-groups %d", c.Groups)
		}
		if b.Confined != nil {
			about += fmt.Sprintf(" [charged to %s of %s]", plural(len(b.Confined.Parts), "part"), b.Confined.Table)
		}
		return b.Loss.String(), about
	case ledger.Opening:
		return b.Loss.String(), fmt.Sprintf("spent by %s about the same people", plural(len(b.From), "other ledger"))
	case ledger.Release:
		return "", fmt.Sprintf("of entry %d", b.Reservation)
	case ledger.Step:
		return "", fmt.Sprintf("of entry %d: %s", b.Reservation, shorten(b.Question, 80))
	case ledger.Failure:
		if b.GivenUp {
			return "", fmt.Sprintf("of entry %d, which was given up", b.Reservation)
		}
		return "", fmt.Sprintf("of entry %d", b.Reservation)
	case ledger.Resume:
		return "", "the owner has looked into the failures so far"
	case ledger.Torn:
		return b.Loss.String(), fmt.Sprintf("a torn entry of %d bytes", b.Bytes)
	}
	return "", ""
}

func shorten(text string, n int) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	return string(r[:n-1]) + "…"
}

func (s *session) showEntry(l *ledger.Ledger, n uint64) error {
	found := false
	err := l.Entries(func(e ledger.Entry) error {
		if e.Index != n {
			return nil
		}
		found = true
		text, err := json.MarshalIndent(e, "", "  ")
		s.print("%s\n", printableJSON(text))
		return err
	})
	if err == nil && !found {
		return usage("there is no entry %d", n)
	}
	return err
}
