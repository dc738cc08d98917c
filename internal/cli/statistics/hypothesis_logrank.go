package statistics

import (
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
)

// lifetimeFlags are the flags for lifetimes of a home's table.
var lifetimeFlags = []string{"time", "event", "periods"}

// runLogRank tests whether the event happens at the same rate in all groups.
func runLogRank(s *console.Console, o *testOptions) error {
	if _, err := o.fromHome(); err != nil {
		return err
	}
	for _, name := range []string{"table", "time", "event", "by"} {
		if !o.given[name] {
			return console.Usage("test log-rank needs --table, --time, --event and --by")
		}
	}
	how, err := o.how()
	if err != nil {
		return err
	}
	l := &eventCounts{
		table: o.get("table"), column: o.get("time"), event: o.get("event"), by: o.get("by"), where: o.get("where"),
		lives: true,
	}
	if l.parts, err = partsOf("periods", o.get("periods")); err != nil {
		return err
	}
	sql, err := l.question(s)
	if err != nil {
		return err
	}
	return measure(s, o, sql, l.try, func(r *released) error {
		r.many = r.many && l.person == ""
		found, err := l.read(r)
		if err != nil {
			return err
		}
		t, err := l.lifetimes(found, how).LogRank()
		if err != nil {
			return err
		}
		o.seeded(t)
		out := tested{
			Test: t, release: r,
			about: strings.Join(append([]string{"Does the event happen at the same rate in all groups? Noisy counts, with noise " +
				noiseText(found.noise) + "."}, l.perPerson()...), " "),
		}
		out.header = []string{l.by, "people", "events"}
		for g, name := range found.groups {
			events, people := 0.0, 0.0
			for j, d := range found.with[g] {
				events, people = events+d, people+d+found.without[g][j]
			}
			out.rows = append(out.rows, []string{name, render.Number6(people), render.Number6(events)})
		}
		if err := showTest(s, out); err != nil || o.get("plot") == "" {
			return err
		}
		curves, err := l.survived(found, .95, r)
		if err != nil {
			return err
		}
		picture := curves.picture()
		picture.Caption += " Log-rank test: p-value " + out.pValue() + "."
		return console.DrawFile(o.get("plot"), plot.WriteLines, picture, "the curves are")
	})
}
