package cli

import (
	"slices"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

func help(s *console.Console) {
	s.Print("dither: answers about populations, with noise that protects each person\n\n" +
		"usage: dither [-C HOME] COMMAND …\n\n")
	var g render.Grid
	for _, c := range verbs() {
		g.Add("  "+c.Name, c.About)
	}
	s.Print(
		"%s\n  dither help COMMAND   its arguments and flags\n  -C HOME               %s\n  --version             "+
			"the version\n\n",
		g.Text("   "),
		console.AboutHome,
	)
	s.Print(
		"exit: 0 answered, 2 usage, 3 refused, unsupported SQL or a claim refuted, 4 budget exhausted, 1 " +
			"anything else\n",
	)
}

// runHelp prints the help of a command, or of the program if no command is named. It runs the command with -h,
// which only declares the flags and prints help.
func runHelp(s *console.Console, args []string) error {
	if len(args) == 0 {
		help(s)
		return nil
	}
	return run(s, args[0], append(slices.Clone(args[1:]), "-h"))
}
