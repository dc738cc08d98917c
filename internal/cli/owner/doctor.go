package owner

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/stats/bounds"
)

// Doctor is the command `dither doctor`.
var Doctor = console.Verb{
	Name:  "doctor",
	Args:  "[TABLE …] [--epsilon E | --rho R] [--yes] [--write FILE]",
	About: "find better bounds for the policy, privately, for at most 5 % of the budget (owner)",
	Run:   runDoctor,
}

// runDoctor states the price, asks for a confirmation, and prints the advice.
func runDoctor(s *console.Console, args []string) error {
	var o bounds.Options
	var yes bool
	file := ""
	s.FormatFlag("table", "json")
	s.Flag(&o.Epsilon, "epsilon", "E", "the price of the whole examination (default: 5 % of the budget)")
	s.Flag(&o.Rho, "rho", "R", "the price in ρ instead, if the budget is under zCDP (an ε costs ρ = ε²/2)")
	s.AnalystFlag(&o.Analyst)
	s.Flag(&yes, "yes", "", "pay the price without a question")
	s.Flag(&file, "write", "FILE", "write the policy with this advice to a new file")
	names, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	o.Tables = names
	return s.With(func(c *curator.Owner) error {
		d, err := bounds.New(s.Context(), c, o)
		if err != nil {
			return err
		}
		if d.Free {
			s.Note("released before: free\n")
		} else if ok, err := confirmed(s, d, yes); !ok {
			return err
		}
		r, err := d.Examine(s.Context())
		if err != nil {
			return err
		}
		text, lines, err := c.PolicyWith(r.Changes)
		if err != nil {
			s.Note("%s\n", render.PrintableLines(err.Error()))
		}
		if file != "" && err == nil {
			if err := writeNew(file, text); err != nil {
				return err
			}
		}
		if s.Format == "json" {
			return s.JSON(doctorJSON(d, r, lines))
		}
		showAdvice(s, r, lines)
		return nil
	})
}

// confirmed states the price, and reports whether the owner pays it.
func confirmed(s *console.Console, d *bounds.Doctor, yes bool) (bool, error) {
	s.Note("The examination costs at most %s. The budget is %s, and %s remain.\n"+
		"It gives advice about columns with at least about %s units.\n",
		d.Price, d.Budget, d.Remaining, curator.Thousands(int64(d.Units)))
	if d.Lists > 0 {
		s.Note("Each of %s of a text column's values also costs the policy's price.delta.\n", render.Plural(d.Lists, "list"))
	}
	if yes {
		return true, nil
	}
	s.Note("type yes to pay it: ")
	typed, _ := bufio.NewReader(s.Stdin).ReadString('\n') // at the end of the input, the text before it counts
	s.Note("\n")
	if strings.TrimSpace(typed) != "yes" {
		return false, console.Usage("nothing is charged: confirm with yes, or say --yes")
	}
	return true, nil
}

// writeNew writes a file that does not exist yet.
func writeNew(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.WriteString(text); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// showAdvice prints the advice, and the lines of the policy to change.
func showAdvice(s *console.Console, r *bounds.Report, lines []curator.PolicyLine) {
	for _, a := range r.Advice {
		name := curator.SQLName(a.Table)
		if a.Column != "" {
			name += "." + curator.SQLName(a.Column)
		}
		s.Print("%s, %s", render.Printable(name), a.What)
		if a.Present != "" {
			s.Print(": %s", render.Printable(a.Present))
		}
		switch {
		case a.Abstains:
			s.Print(": no advice\n")
		case a.Better == "":
			s.Print(": keep it\n")
		default:
			s.Print(" → %s\n", render.Printable(a.Better))
		}
		s.Print("    %s\n", render.PrintableLines(a.Reason))
		if a.Better != "" && a.BetterError != nil {
			s.Print("    typical questions: %s\n", errorsOf(a))
		}
	}
	if len(lines) > 0 {
		s.Print("\nThe policy with this advice:\n")
	}
	for _, l := range lines {
		s.Print("@@ line %d\n-%s\n", l.Number, render.PrintableLines(l.Old))
		for _, text := range l.New {
			s.Print("+%s\n", render.PrintableLines(text))
		}
	}
	if len(r.Releases) > 0 {
		s.Print("\nComputed from %s: %s. %s remain.\n", render.Plural(len(r.Releases), "release"),
			strings.Join(r.Releases, ", "), r.Remaining)
	}
}

// errorsOf states the mean errors of typical questions.
func errorsOf(a bounds.Advice) string {
	better := "a mean error of " + percent(*a.BetterError)
	if a.Error == nil {
		return better
	}
	return better + ", in place of " + percent(*a.Error)
}

// percent writes a number of percent with two digits.
func percent(x float64) string {
	if x >= 100 {
		return curator.Thousands(int64(x)) + " %"
	}
	return fmt.Sprintf("%.2g %%", x)
}

// doctorJSON returns the report as JSON.
func doctorJSON(d *bounds.Doctor, r *bounds.Report, lines []curator.PolicyLine) any {
	type loss struct {
		Epsilon string `json:"epsilon,omitempty"`
		Rho     string `json:"rho,omitempty"`
	}
	of := func(l curator.Loss) loss {
		if l.Rho != "" {
			return loss{Rho: l.Rho}
		}
		return loss{Epsilon: l.Epsilon}
	}
	return struct {
		Price     loss                 `json:"price"`
		Remaining loss                 `json:"remaining"`
		Replayed  bool                 `json:"replayed"`
		Advice    []bounds.Advice      `json:"advice"`
		Lines     []curator.PolicyLine `json:"policy_lines"`
		Releases  []string             `json:"releases"`
	}{of(d.Price), of(r.Remaining), d.Free, r.Advice, lines, r.Releases}
}
