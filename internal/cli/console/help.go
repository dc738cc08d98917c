package console

import (
	"flag"
	"slices"
	"strings"

	"dither/internal/cli/render"
)

// help prints a command's arguments, and a line for each flag that it has declared.
func (s *Console) help() {
	v := s.verb
	s.Print("dither %s: %s\n\nusage: dither %s\n\n", v.Name, v.About, strings.TrimSpace(v.Name+" "+v.Args))
	var g render.Grid
	s.Flags.VisitAll(func(f *flag.Flag) {
		value, about, _ := strings.Cut(f.Usage, "\t")
		g.Add("  "+strings.TrimSpace(Dashed(f.Name)+" "+value), about)
	})
	// Every command has -C, so it is printed last.
	slices.SortStableFunc(g.Rows, func(a, b []string) int { return last(a[0]) - last(b[0]) })
	s.Print("%s", g.Text("   "))
	if v.More != nil {
		s.Print("%s", v.More(s))
	}
}

func last(flag string) int {
	if strings.HasPrefix(flag, "  -C ") {
		return 1
	}
	return 0
}
