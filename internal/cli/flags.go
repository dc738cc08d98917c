package cli

import (
	"flag"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"dither/account"
	"dither/internal/nearest"
	"dither/privacy"
)

// flag declares a flag of the verb at hand, once and with its help: where its value goes, which holds its default, its name, the placeholder of
// its value ("" for a switch), and what it is for.
func (s *session) flag(into any, name, value, about string) {
	help := usageOf(value, about)
	switch into := into.(type) {
	case *string:
		s.flags.StringVar(into, name, *into, help)
	case *bool:
		s.flags.BoolVar(into, name, *into, help)
	case *int:
		s.flags.IntVar(into, name, *into, help)
	case *int64:
		s.flags.Int64Var(into, name, *into, help)
	case *uint64:
		s.flags.Uint64Var(into, name, *into, help)
	case func(string) error:
		s.flags.Func(name, help, into)
	default:
		panic(fmt.Sprintf("flag %s: %T holds no value", name, into)) // a mistake of this program, which printing its help would find
	}
}

// usageOf is a flag's help as its FlagSet keeps it: the placeholder of its value, a tab, and what it is for.
func usageOf(value, about string) string { return value + "\t" + about }

// Flags that verbs of several families take, with one meaning.

// aboutHome is the help of -C.
const aboutHome = "the curator's home (default $DITHER_HOME, else the working directory)"

func (s *session) homeFlag() { s.flag(&s.home, "C", "HOME", aboutHome) }

// anyFormat are the formats of an answer.
var anyFormat = []string{"table", "json", "csv", "markdown"}

// formatFlag declares --format, with the formats that the verb prints.
func (s *session) formatFlag(formats ...string) { s.formatFlagFor(choice(formats), formats...) }

// formatFlagFor is formatFlag where there is more to say of the formats.
func (s *session) formatFlagFor(about string, formats ...string) {
	s.formats = formats
	s.flag(&s.format, "format", "FORMAT", about+" (default table)")
}

func (s *session) checkFormat() error {
	if s.formats == nil || slices.Contains(s.formats, s.format) {
		return nil
	}
	return usage("--format is %s, not %q", choice(s.formats), s.format)
}

// choice is a list with "or" before its last word.
func choice(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (s *session) rhoFlag(into *string) {
	s.flag(into, "rho", "R", "the same in ρ, where the budget is one of zCDP (ε costs ρ = ε²/2)")
}

func (s *session) confidenceFlag(into *string) {
	s.flag(into, "confidence", "P", "of the intervals (default 0.95)")
}

func (s *session) analystFlag(into *string) {
	s.flag(into, "analyst", "NAME", "who asks: recorded, and held to the policy's limit for them")
}

func (s *session) freshFlag(into *bool) {
	s.flag(into, "fresh", "", "pay again, for new noise, though the question was answered before")
}

// groupFlag declares --group of explain and budget.
func (s *session) groupFlag() *int64 {
	group := new(int64)
	s.flag(group, "group", "K", "what it means for K units together")
	return group
}

// wrongFlag says in the program's own words what package flag found wrong with the arguments.
func wrongFlag(flags *flag.FlagSet, err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		var names []string
		flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		if flags.Name() == "dither" && len(name) > 1 {
			return usage("there is no flag %s before the command; a command's flags follow it", dashed(name))
		}
		return usage("there is no flag %s%s", dashed(name), didYouMean(dashed(nearest.Name(name, names))))
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return usage("%s needs a value", dashed(name))
	}
	if rest, ok := strings.CutPrefix(text, "invalid value "); ok {
		if value, about, ok := strings.Cut(rest, " for flag -"); ok {
			name, _, _ := strings.Cut(about, ":")
			return usage("%s cannot be %s", dashed(name), value)
		}
	}
	return usage("%s", text)
}

// oneColumn reads --columns as --column, which takes one or several.
func oneColumn(flags *flag.FlagSet, args []string) []string {
	if flags.Lookup("column") == nil {
		return args
	}
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--" {
			break
		}
		if name, rest, _ := strings.Cut(a, "="); name == "--columns" || name == "-columns" {
			out[i] = "--column"
			if len(a) > len(name) {
				out[i] += "=" + rest
			}
		}
	}
	return out
}

// didYouMean is a hint at a name, or nothing where there is none.
func didYouMean(name string) string {
	if strings.Trim(name, "-") == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", name)
}

// Numbers of flags are decimals or fractions of two, as in a spec. What is wrong with one begins with the flag's name.

func numberFlag(name, text string) (*big.Rat, error) {
	r, err := account.ParseNumber(text)
	if err != nil {
		return nil, usage("%s %v", dashed(name), err)
	}
	return r, nil
}

func epsilonFlag(text string) (privacy.Epsilon, error) {
	r, err := numberFlag("epsilon", text)
	if err != nil {
		return privacy.Epsilon{}, err
	}
	if r.Sign() <= 0 || r.Cmp(big.NewRat(privacy.MaxEpsilon, 1)) > 0 {
		return privacy.Epsilon{}, usage("--epsilon must be above 0 and at most %d", privacy.MaxEpsilon)
	}
	return privacy.EpsilonOf(r)
}

func deltaFlag(text string) (privacy.Delta, error) {
	r, err := numberFlag("delta", text)
	if err != nil {
		return privacy.Delta{}, err
	}
	if r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return privacy.Delta{}, usage("--delta must be at least 0 and below 1")
	}
	return privacy.DeltaOf(r)
}

// wholeFlag reads an integer within bounds.
func wholeFlag(name, text string, least, most int64) (int64, error) {
	r, err := account.ParseNumber(text)
	if err != nil || !r.IsInt() || r.Cmp(big.NewRat(least, 1)) < 0 || r.Cmp(big.NewRat(most, 1)) > 0 {
		return 0, usage("%s is an integer from %d to %s", dashed(name), least, short(most))
	}
	return r.Num().Int64(), nil
}

// short writes a power of ten as people do, from 1e9 on.
func short(n int64) string {
	text := strconv.FormatInt(n, 10)
	if len(text) > 9 && strings.TrimRight(text, "0") == "1" {
		return fmt.Sprintf("1e%d", len(text)-1)
	}
	return text
}

func countFlag(text string) (int64, error) { return wholeFlag("count", text, 1, account.MostSteps) }
