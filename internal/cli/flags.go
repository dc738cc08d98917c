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
