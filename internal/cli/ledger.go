package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"dither/curator"
	"dither/internal/ledger"
	"dither/privacy"
)

// runLedger reads and checks the ledger, and takes questions again after failures, for the owner.
func runLedger(s *session, args []string) error {
	s.formatFlag()
	against, into, spent := s.flags.String("against", "", ""), s.flags.String("into", "", ""), s.flags.String("spent", "", "")
	rows := s.flags.Int64("rows", 0, "")
	rest, helped, err := s.parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) == 0 {
		return usage(ledgerVerbs)
	}
	switch {
	case rest[0] == "verify" && len(rest) == 1:
		return s.verifyLedger(*against)
	case rest[0] == "merge":
		return s.mergeLedgers(rest[1:], *rows, *into)
	case rest[0] == "head" && len(rest) == 1:
		return s.withLedger(s.showHead)
	case rest[0] == "recover" && len(rest) == 1:
		return s.recoverLedger(*against, *spent)
	case rest[0] == "clock" && len(rest) == 1:
		return s.withLedger(s.correctClock)
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
	return usage(ledgerVerbs)
}

const ledgerVerbs = "ledger head, list, show N, verify [--against HEAD], merge HOME HOME [--rows N] [--into HOME], resume, clock, or recover [--against HEAD] [--spent SUM]"

// showHead prints the checkpoint to keep elsewhere: the head; in JSON also what was spent, for when the log is lost.
func (s *session) showHead(l *ledger.Ledger) error {
	if s.format != "json" {
		s.print("%s\n", l.Head())
		return nil
	}
	state, err := l.State()
	if err != nil {
		return err
	}
	text, err := json.Marshal(struct {
		Head   ledger.Head  `json:"head"`
		Ledger string       `json:"ledger"`
		Spent  privacy.Loss `json:"spent"`
		Budget privacy.Loss `json:"budget"`
	}{state.Head, state.ID, state.Spent, state.Budget})
	if err == nil {
		s.print("%s\n", printableJSON(text))
	}
	return err
}

// correctClock sets the ledger's clock right, after an entry was dated too late.
func (s *session) correctClock(l *ledger.Ledger) error {
	ahead, err := l.CorrectClock()
	if errors.Is(err, ledger.ErrClockRight) {
		return usage("%v: the latest is of %s", err, ahead.Format(time.RFC3339))
	}
	if err != nil {
		return err
	}
	state, err := l.State()
	if err != nil {
		return err
	}
	s.print("the clock was at %s, and is at %s now\n", ahead.Format(time.RFC3339), state.Clock.Format(time.RFC3339))
	if p := state.Period; p != nil {
		s.print("the grant of this %s has %s left; the next one is on %s\n", p.Per, p.Remaining, p.Next.Format(time.DateOnly))
	}
	return nil
}

// recoverLedger goes on after the head file or the log was lost.
func (s *session) recoverLedger(against, spent string) error {
	r, err := curator.RecoverLedger(s.home, curator.RecoverOptions{Against: against, Spent: spent})
	if err != nil {
		return err
	}
	for _, line := range r.Lines {
		s.print("%s\n", printableLines(line))
	}
	return nil
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
	if at := r.State.Clock; at.After(time.Now().Add(time.Hour)) {
		s.print("an entry is dated %s, later than now: grants wait for that date, unless `dither ledger clock` sets it right\n", at.Format(time.RFC3339))
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
	case ledger.Recovery:
		about = "the " + b.Lost + " was lost"
		if b.Kept != "" {
			about += "; kept: " + b.Kept
		}
		if b.Sum != nil {
			about += "; spent, as the owner says: " + b.Sum.String()
		}
		if b.Loss == nil {
			return "", about
		}
		return b.Loss.String(), about
	case ledger.Correction:
		return "", "the clock was at " + b.Ahead.Format(time.RFC3339)
	case ledger.Release:
		return "", fmt.Sprintf("of entry %d", b.Reservation)
	case ledger.Step:
		return "", fmt.Sprintf("of entry %d: %s", b.Reservation, shorten(b.Question, 80))
	case ledger.Failure:
		if b.GivenUp {
			return "", fmt.Sprintf("of entry %d, which was given up", b.Reservation)
		}
		return "", fmt.Sprintf("of entry %d", b.Reservation)
	case ledger.StepGivenUp:
		about = fmt.Sprintf("of entry %d, which goes on", b.Reservation)
		if b.Analyst != "" {
			about = b.Analyst + ": " + about
		}
		return "", about
	case ledger.Resume:
		return "", "the owner has looked into the failures so far"
	case ledger.Checkpoint:
		return "", fmt.Sprintf("of the first %d entries", b.Entries)
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
