package owner

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/ledger"
	"dither/privacy"
)

// ledgerFlags are the flags of the subcommands of `dither ledger`.
type ledgerFlags struct {
	against, into, spent string
	rows                 int64
}

func (f *ledgerFlags) declare(s *console.Console) {
	s.FormatFlag(console.AnyFormat...)
	s.Flag(&f.against, "against", "HEAD",
		"with verify and recover: a head that `dither ledger head` printed; the ledger must still contain it")
	s.Flag(&f.into, "into", "HOME", "with merge: charge the spending of the other homes to this home too")
	s.Flag(&f.spent, "spent", "SUM", "with recover: the amount spent, as an ε, or as ρ or ρ,δ if the budget is in ρ")
	s.Flag(&f.rows, "rows", "N", "with merge: the largest number of rows of one person in a table whose unit is a row")
}

// Ledger is the command `dither ledger`.
var Ledger = console.Verb{
	Name: "ledger",
	Args: "head | list | show N|rN | verify [--against HEAD] | merge HOME HOME [--rows N] [--into HOME] | resume | " +
		"clock | recover [--against HEAD] [--spent SUM]",
	About: "read and check the ledger (owner)",
	Run:   runLedger,
}

// runLedger runs a subcommand of `dither ledger`. All of them are for the owner.
func runLedger(s *console.Console, args []string) error {
	var f ledgerFlags
	f.declare(s)
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) == 0 {
		return console.Usage(ledgerVerbs)
	}
	switch {
	case rest[0] == "verify" && len(rest) == 1:
		return verifyLedger(s, f.against)
	case rest[0] == "merge":
		return mergeLedgers(s, rest[1:], f.rows, f.into)
	case rest[0] == "head" && len(rest) == 1:
		return withLedger(s, func(l *ledger.Ledger) error { return showHead(s, l) })
	case rest[0] == "recover" && len(rest) == 1:
		return recoverLedger(s, f.against, f.spent)
	case rest[0] == "clock" && len(rest) == 1:
		return withLedger(s, func(l *ledger.Ledger) error { return correctClock(s, l) })
	case rest[0] == "resume" && len(rest) == 1:
		return withLedger(s, func(l *ledger.Ledger) error { return l.Resume() })
	case rest[0] == "list" && len(rest) == 1:
		return withLedger(s, func(l *ledger.Ledger) error { return listLedger(s, l) })
	case rest[0] == "show" && len(rest) == 2:
		// a release is named by the number of its reservation, as in r12
		n, err := strconv.ParseUint(strings.TrimPrefix(rest[1], "r"), 10, 64)
		if err != nil {
			return console.Usage("ledger show takes an entry's number or a release's name, such as 12 or r12, not %q", rest[1])
		}
		return withLedger(s, func(l *ledger.Ledger) error { return showEntry(s, l, n, strings.HasPrefix(rest[1], "r")) })
	}
	return console.Usage(ledgerVerbs)
}

const ledgerVerbs = "ledger head, list, show N or rN, verify [--against HEAD], merge HOME HOME [--rows N] [--into HOME], " +
	"resume, clock, or recover [--against HEAD] [--spent SUM]"

// showHead prints the checkpoint that the owner keeps elsewhere: the head of the ledger. As JSON, it also includes
// the spent loss, which helps if the log is lost.
func showHead(s *console.Console, l *ledger.Ledger) error {
	if s.Format != "json" {
		s.Print("%s\n", l.Head())
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
		s.Print("%s\n", render.PrintableJSON(text))
	}
	return err
}

// correctClock corrects the ledger's clock if it is ahead because an entry was dated too late.
func correctClock(s *console.Console, l *ledger.Ledger) error {
	ahead, err := l.CorrectClock()
	if errors.Is(err, ledger.ErrClockRight) {
		return console.Usage("%v: the latest date is %s", err, ahead.Format(time.RFC3339))
	}
	if err != nil {
		return err
	}
	state, err := l.State()
	if err != nil {
		return err
	}
	s.Print("the clock was at %s, and is at %s now\n", ahead.Format(time.RFC3339), state.Clock.Format(time.RFC3339))
	if p := state.Period; p != nil {
		s.Print("the grant of this %s has %s left; the next one is on %s\n", p.Per, p.Remaining,
			p.Next.Format(time.DateOnly))
	}
	return nil
}

// recoverLedger makes the ledger usable again after the head file or the log was lost.
func recoverLedger(s *console.Console, against, spent string) error {
	r, err := curator.RecoverLedger(s.Home, curator.RecoverOptions{Against: against, Spent: spent})
	if err != nil {
		return err
	}
	for _, line := range r.Lines {
		s.Print("%s\n", render.PrintableLines(line))
	}
	return nil
}

func withLedger(s *console.Console, do func(*ledger.Ledger) error) error {
	l, err := ledger.Open(s.Home, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(do(l), l.Close())
}

// verifyLedger checks every rule of the ledger. If a checkpoint is given, it checks that the ledger still contains
// it.
func verifyLedger(s *console.Console, against string) error {
	var head *ledger.Head
	if against != "" {
		h, err := ledger.ParseHead(against)
		if err != nil {
			return console.Usage("--against takes a line that `dither ledger head` printed: %v", err)
		}
		head = &h
	}
	r, err := ledger.Verify(s.Home, head)
	if err != nil {
		return err
	}
	if s.Format == "json" {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		s.Print("%s\n", render.PrintableJSON(text))
		return nil
	}
	s.Print("%d entries, the hash chain is intact\n", r.Entries)
	if r.Behind > 0 {
		s.Print("ledger.head is %d entries behind ledger.log: a process stopped between the two writes\n", r.Behind)
	}
	if r.Fragment > 0 {
		cost := "it was never acknowledged, and costs nothing"
		if r.Charged {
			cost = "its price counts as spent"
		}
		s.Print("the last %d bytes are an incomplete entry: %s\n", r.Fragment, cost)
	}
	if head != nil {
		s.Print("it contains the given head, entry %d\n", head.Index)
	}
	if at := r.State.Clock; at.After(time.Now().Add(time.Hour)) {
		s.Print(
			"an entry is dated %s, later than now: grants wait for that date, unless you correct it with `dither "+
				"ledger clock`\n",
			at.Format(time.RFC3339),
		)
	}
	s.Print("spent %s of %s\n", r.State.Spent, r.State.Budget)
	return nil
}

// listLedger prints a line for each entry of the ledger.
func listLedger(s *console.Console, l *ledger.Ledger) error {
	if s.Format == "json" {
		return l.Entries(func(e ledger.Entry) error {
			text, err := json.Marshal(e)
			s.Print("%s\n", render.PrintableJSON(text))
			return err
		})
	}
	var g render.Grid
	g.Add("entry", "time", "kind", "loss", "")
	err := l.Entries(func(e ledger.Entry) error {
		loss, about := summary(e.Body)
		g.Add(strconv.FormatUint(e.Index, 10), e.Time.UTC().Format(time.RFC3339), string(e.Kind), loss,
			render.Printable(about))
		return nil
	})
	s.Print("%s", g.Text("  "))
	return err
}

// summary returns the loss of an entry and a short description.
func summary(b ledger.Body) (loss, about string) {
	switch b := b.(type) {
	case ledger.Genesis:
		return "", "ledger " + b.ID
	case ledger.Adoption:
		about = fmt.Sprintf("policy of %s, budget %s", b.Terms.Population, b.Terms.Budget)
		if b.Group > 1 {
			about += fmt.Sprintf(", earlier losses count as those of a group of %d", b.Group)
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
			about += fmt.Sprintf(" [charged to %s of %s]",
				render.Plural(len(b.Confined.Parts), "part"), b.Confined.Table)
		}
		return b.Loss.String(), about
	case ledger.Opening:
		return b.Loss.String(),
			fmt.Sprintf("spent by %s about the same people", render.Plural(len(b.From), "other ledger"))
	case ledger.Recovery:
		about = "the " + b.Lost + " was lost"
		if b.Kept != "" {
			about += "; kept: " + b.Kept
		}
		if b.Sum != nil {
			about += "; spent, according to the owner: " + b.Sum.String()
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
			return "", fmt.Sprintf("of entry %d, which was cancelled", b.Reservation)
		}
		return "", fmt.Sprintf("of entry %d", b.Reservation)
	case ledger.StepGivenUp:
		about = fmt.Sprintf("of entry %d, which continues", b.Reservation)
		if b.Analyst != "" {
			about = b.Analyst + ": " + about
		}
		return "", about
	case ledger.Resume:
		return "", "the owner allowed questions again after the failures so far"
	case ledger.Checkpoint:
		return "", fmt.Sprintf("of the first %d entries", b.Entries)
	case ledger.Torn:
		return b.Loss.String(), fmt.Sprintf("an incomplete entry of %d bytes", b.Bytes)
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

// showEntry prints entry n. With release, n is from the name of a release, so the entry must be its reservation.
func showEntry(s *console.Console, l *ledger.Ledger, n uint64, release bool) error {
	found := false
	err := l.Entries(func(e ledger.Entry) error {
		if e.Index != n || release && e.Kind != ledger.KindReserve {
			return nil
		}
		found = true
		text, err := json.MarshalIndent(e, "", "  ")
		s.Print("%s\n", render.PrintableJSON(text))
		return err
	})
	if err == nil && !found && release {
		return console.Usage("there is no release r%d", n)
	}
	if err == nil && !found {
		return console.Usage("there is no entry %d", n)
	}
	return err
}
