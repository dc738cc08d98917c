package console

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"dither/internal/nearest"
)

// NoZeros returns an error for a count that is explicitly 0, because 0 stands for the default internally.
func (s *Console) NoZeros() (err error) {
	s.Flags.Visit(func(f *flag.Flag) {
		if (f.Name == "max-groups" || f.Name == "group" || f.Name == "min-units") && f.Value.String() == "0" {
			err = Usage("--%s must be at least 1", f.Name)
		}
	})
	return err
}

// Parse parses flags in any position among the arguments, and returns the other arguments. helped reports whether
// it printed help instead.
func (s *Console) Parse(args []string) (rest []string, helped bool, err error) {
	args = oneColumn(s.Flags, args)
	for {
		n := s.beforeSQL(args)
		if err := s.Flags.Parse(args[:n]); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				s.help()
				return nil, true, nil
			}
			return nil, false, WrongFlag(s.Flags, err)
		}
		args = append(slices.Clone(s.Flags.Args()), args[n:]...)
		if len(args) == 0 {
			return rest, false, s.checkFormat()
		}
		rest, args = append(rest, args[0]), args[1:]
	}
}

// beforeSQL returns the number of arguments before the first SQL statement that begins with a comment. The value of a
// flag may begin with a comment too. An argument without dashes ends the search, because flags are parsed up to it.
func (s *Console) beforeSQL(args []string) int {
	for i := 0; i < len(args); i++ {
		name, dashed := strings.CutPrefix(args[i], "-")
		if !dashed || name == "" || name == "-" {
			break
		}
		if s.commented(args[i]) {
			return i
		}
		f := s.Flags.Lookup(strings.TrimPrefix(name, "-"))
		if f == nil {
			continue // unknown, or with its value after "="
		}
		if b, ok := f.Value.(interface{ IsBoolFlag() bool }); !ok || !b.IsBoolFlag() {
			i++
		}
	}
	return len(args)
}

// commented reports whether an argument is SQL that begins with a comment: -- and white space, or -- and a line that
// more lines follow. It is no flag with a value of several lines.
func (s *Console) commented(arg string) bool {
	text, ok := strings.CutPrefix(arg, "--")
	if !ok || text == "" {
		return false
	}
	if strings.TrimLeftFunc(text, unicode.IsSpace) != text {
		return true
	}
	name, _, _ := strings.Cut(text, "=")
	return strings.Contains(text, "\n") && s.Flags.Lookup(name) == nil
}

func (s *Console) checkFormat() error {
	if s.formats == nil || slices.Contains(s.formats, s.Format) {
		return nil
	}
	return Usage("--format must be %s, not %q", choice(s.formats), s.Format)
}

// WrongFlag translates an error of package flag into the program's own words.
func WrongFlag(flags *flag.FlagSet, err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		var names []string
		flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		if flags.Name() == "dither" && len(name) > 1 {
			return Usage("there is no flag %s before the command; a command's flags follow it", Dashed(name))
		}
		return Usage("there is no flag %s%s", Dashed(name), DidYouMean(Dashed(nearest.Name(name, names))))
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return Usage("%s needs a value", Dashed(name))
	}
	if rest, ok := strings.CutPrefix(text, "invalid value "); ok {
		if value, about, ok := strings.Cut(rest, " for flag -"); ok {
			name, _, _ := strings.Cut(about, ":")
			return Usage("%s cannot be %s", Dashed(name), value)
		}
	}
	return Usage("%s", text)
}

// oneColumn replaces --columns by --column, which takes one column or several.
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

// DidYouMean returns a hint at a name, or "" if the name is empty.
func DidYouMean(name string) string {
	if strings.Trim(name, "-") == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", name)
}

// Dashed returns a flag with its dashes, as a user types it.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
