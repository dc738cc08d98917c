package cli

import (
	"flag"
	"slices"
	"strings"
)

// help prints the help of the program.
func help(s *session) {
	s.print("dither: answers about populations, with noise that protects each person\n\n" +
		"usage: dither [-C HOME] COMMAND …\n\n")
	var g grid
	for _, c := range verbs() {
		g.add("  "+c.name, c.about)
	}
	s.print("%s\n  dither help COMMAND   its arguments and flags\n  -C HOME               %s\n  --version             the version\n\n",
		g.text("   "), aboutHome)
	s.print("exit: 0 answered, 2 usage, 3 refused, unsupported SQL or a claim refuted, 4 budget exhausted, 1 anything else\n")
}

// help prints a verb's arguments, and a line for each flag that it has declared.
func (s *session) help() {
	v := s.verb
	s.print("dither %s: %s\n\nusage: dither %s\n\n", v.name, v.about, strings.TrimSpace(v.name+" "+v.args))
	var g grid
	s.flags.VisitAll(func(f *flag.Flag) {
		value, about, _ := strings.Cut(f.Usage, "\t")
		g.add("  "+strings.TrimSpace(dashed(f.Name)+" "+value), about)
	})
	// -C is every verb's: it stands last.
	slices.SortStableFunc(g.rows, func(a, b []string) int { return last(a[0]) - last(b[0]) })
	s.print("%s", g.text("   "))
	if v.more != nil {
		s.print("%s", v.more(s))
	}
}

func last(flag string) int {
	if strings.HasPrefix(flag, "  -C ") {
		return 1
	}
	return 0
}

func dashed(name string) string { return completedFlag{name: name}.dashed() }

// runHelp prints the help of a verb, which declares its flags and does nothing else when it is asked for help.
func runHelp(s *session, args []string) error {
	if len(args) == 0 {
		help(s)
		return nil
	}
	return run(s, args[0], append(slices.Clone(args[1:]), "-h"))
}
