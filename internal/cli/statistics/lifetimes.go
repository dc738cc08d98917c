package statistics

import (
	"slices"
	"strings"

	"dither/curator"
	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// lifetimes select the times of a table's rows, and say for which rows the event happened.
type lifetimes struct {
	table, time, event, by, where, periods string

	period orderedKey
}

// lifetimeFlags are the flags for lifetimes of a home's table.
var lifetimeFlags = []string{"time", "event", "periods"}

// question returns the question for the numbers of rows by group, period and event.
func (l *lifetimes) question(s *console.Console) (string, error) {
	parts, err := partsOf("periods", l.periods)
	if err != nil {
		return "", err
	}
	if l.period, err = orderedKeyOf(s, l.table, l.time, parts); err != nil {
		return "", err
	}
	event, err := l.happened(s)
	if err != nil {
		return "", err
	}
	keys := []string{l.period.sql, "CASE WHEN " + event + " THEN 1 ELSE 0 END"}
	if l.by != "" {
		keys = slices.Insert(keys, 0, curator.SQLName(l.by))
	}
	where := event + " IS NOT NULL" // without it, such a row would count as censored
	if l.where != "" {
		where = "(" + l.where + "\n) AND " + where
	}
	return groupedSQL(l.table, "COUNT(*)", where, keys...), nil
}

// happened returns the SQL condition that the event happened. The event is a boolean column, a numeric column that is
// above 0 if it happened, or a condition.
func (l *lifetimes) happened(s *console.Console) (string, error) {
	kind := ""
	err := s.Asking(func(c *curator.Session) error {
		tables, err := c.Tables()
		for _, t := range tables {
			for _, x := range t.Columns {
				if t.Name == l.table && x.Name == l.event {
					kind = x.Type
				}
			}
		}
		return err
	})
	switch kind {
	case "":
		return "(" + l.event + "\n)", err
	case "boolean":
		return "(" + curator.SQLName(l.event) + ")", err
	case "integer", "real":
		return "(" + curator.SQLName(l.event) + " > 0)", err
	}
	return "", console.Usage("the column %s is %s: give --event a boolean column, a number that is above 0 if the event "+
		"happened, or a condition such as \"status = 'dead'\"", l.event, kind)
}

// try refuses, before anything is paid, what has too many cells.
func (l *lifetimes) try(cells int) error {
	if cells > hypothesis.MaxCells {
		return console.Usage("there are %s of group, period and event, and at most %d are possible: use fewer --periods",
			render.Plural(cells, "cell"), hypothesis.MaxCells)
	}
	return nil
}

// read arranges the counts of a release. names has the groups; without --by there is one, with an empty name.
func (l *lifetimes) read(r *released) (out hypothesis.Lifetimes, names, periods []string, err error) {
	columns := 2
	if l.by != "" {
		columns = 3
	}
	cells, counts, d, err := r.counts("log-rank", columns)
	if err != nil {
		return out, nil, nil, err
	}
	out.Noise = d
	at := func(list *[]string, name string) int {
		if i := slices.Index(*list, name); i >= 0 {
			return i
		}
		*list = append(*list, name)
		return len(*list) - 1
	}
	for i, cell := range cells {
		g, j := at(&names, strings.Join(cell[:columns-2], "")), at(&periods, cell[columns-2])
		for len(out.Events) <= g {
			out.Events, out.Censored = append(out.Events, nil), append(out.Censored, nil)
		}
		row := &out.Censored[g]
		if cell[columns-1] != "0" {
			row = &out.Events[g]
		}
		for len(*row) <= j {
			*row = append(*row, 0)
		}
		(*row)[j] = counts[i]
	}
	for j := range periods {
		periods[j] = l.period.name(periods[j])
	}
	return out, names, periods, nil
}

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
	l := &lifetimes{
		table: o.get("table"), time: o.get("time"), event: o.get("event"), by: o.get("by"), where: o.get("where"),
		periods: o.get("periods"),
	}
	sql, err := l.question(s)
	if err != nil {
		return err
	}
	return measure(s, o, sql, l.try, func(r *released) error {
		found, names, _, err := l.read(r)
		if err != nil {
			return err
		}
		found.How = how
		t, err := found.LogRank()
		if err != nil {
			return err
		}
		o.seeded(t)
		out := tested{
			Test: t, release: r,
			about: "Does the event happen at the same rate in all groups? Noisy counts, with noise " + noiseText(found.Noise) + ".",
		}
		out.header = []string{l.by, "people", "events"}
		for g, name := range names {
			events, people := 0.0, 0.0
			for j, d := range found.Events[g] {
				events, people = events+d, people+d+found.Censored[g][j]
			}
			out.rows = append(out.rows, []string{name, render.Number6(people), render.Number6(events)})
		}
		return showTest(s, out)
	})
}
