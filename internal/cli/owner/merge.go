package owner

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/ledger"
	"dither/privacy"
)

// mergeLedgers prints the total spending of several homes on people who are in all of them. If the parameter `into`
// names a home, it also charges the others' spending to that home.
func mergeLedgers(s *console.Console, homes []string, rows int64, into string) error {
	dirs := slices.Clone(homes)
	if into != "" {
		dirs = append(dirs, into)
	}
	for i, dir := range dirs {
		full, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		dirs[i] = full
	}
	if into != "" { // the home `into` may also be among the named homes
		last := len(dirs) - 1
		dirs = append(slices.DeleteFunc(slices.Clone(dirs[:last]), func(dir string) bool { return dir == dirs[last] }),
			dirs[last])
	}
	if len(dirs) < 2 {
		return console.Usage("ledger merge HOME HOME [--rows N] [--into HOME]")
	}
	m, err := ledger.Merge(dirs, rows)
	if errors.Is(err, ledger.ErrUnits) && rows == 0 {
		return fmt.Errorf("%w (--rows N)", err)
	}
	if err != nil {
		return err
	}
	if err := showMerged(s, m, dirs); err != nil || into == "" {
		return err
	}
	last := m.Homes[len(m.Homes)-1]
	if last.Group != 1 {
		return fmt.Errorf(
			"%s protects less than the other homes do together: its losses count ×%d in their relation. Change its "+
				"policy first",
			into,
			last.Group,
		)
	}
	loss := privacy.Loss{}
	if m.Spent.Accountant() == privacy.ZCDP {
		loss = privacy.ZCDPLoss(privacy.Rho{}, privacy.Delta{})
	}
	var from []ledger.Origin
	for _, p := range m.Homes[:len(m.Homes)-1] {
		loss, from = loss.Plus(p.Spent), append(from, p.Origin)
	}
	// Opened compares this head, because the ledger's terms may change before it is open
	seen, err := ledger.ParseHead(last.Head)
	if err != nil {
		return err
	}
	l, err := ledger.Open(dirs[len(dirs)-1], time.Now)
	if err != nil {
		return err
	}
	err = errors.Join(l.Opened(ledger.Opening{Loss: loss, From: from}, seen), l.Close())
	if errors.Is(err, ledger.ErrCharged) {
		return fmt.Errorf(
			"%s was charged with the spending of one of the other homes before; nothing was charged now. The "+
				"spending of that home since then is not charged here, and the sum above counts the charged amount "+
				"twice. From now on, let only one of the homes answer. If several have answered since then, "+
				"charge all of them to a new home: "+
				"dither ledger merge %s %s --into NEW",
			into,
			strings.Join(homes, " "),
			into,
		)
	}
	if err != nil {
		return err
	}
	s.Note("charged %s to %s\n", loss, render.Printable(into))
	return nil
}

func showMerged(s *console.Console, m ledger.Merged, dirs []string) error {
	if s.Format == "json" {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		s.Print("%s\n", render.PrintableJSON(text))
		return nil
	}
	s.Print("the loss of one %s in all homes, under %s:\n", m.Unit, m.Neighbours)
	over := false
	for i, p := range m.Homes {
		counts := ""
		if p.Group > 1 {
			counts = fmt.Sprintf(", counted as for a group of %d", p.Group)
		}
		s.Print("%s (%s): spent %s of %s%s\n", render.Printable(dirs[i]), render.Printable(p.Population), p.Spent,
			p.Budget, counts)
		over = over || p.Over || p.Unknown
	}
	s.Print("together: %s\n", m.Spent)
	for _, id := range m.Twice {
		of := "another ledger, " + id + ","
		if i := slices.IndexFunc(m.Homes, func(p ledger.Part) bool { return p.ID == id }); i >= 0 {
			of = render.Printable(dirs[i])
		}
		s.Print(
			"the spending of %s was also charged to other homes: the sum counts it more than once, and the true sum is lower\n",
			of)
	}
	for i, p := range m.Homes {
		switch {
		case p.Over:
			s.Print("ABOVE the budget of %s: releases cannot be taken back\n", render.Printable(dirs[i]))
		case p.Unknown:
			s.Print("the budget of %s is a pure ε, so a sum in ρ is not within it\n", render.Printable(dirs[i]))
		}
	}
	if !over {
		s.Print("the sum is within each of the budgets\n")
	}
	s.Print("from now on, nothing bounds the sum: no home sees what the others answer\n")
	return nil
}
