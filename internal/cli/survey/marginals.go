package survey

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local"
	"dither/privacy"
)

// marginals is the mechanism of tables of counts over several columns.
const marginals = "marginals"

// setsOf parses --tables, such as age*sex,city, as indices of columns. Without it, there is a table for each pair.
func (o *options) setsOf(columns []column) (sets [][]int, err error) {
	if o.tables == "" {
		if len(columns) == 1 {
			return [][]int{{0}}, nil
		}
		for i := range columns {
			for j := i + 1; j < len(columns); j++ {
				sets = append(sets, []int{i, j})
			}
		}
		return sets, nil
	}
	for text := range strings.SplitSeq(o.tables, ",") {
		var set []int
		for name := range strings.SplitSeq(text, "*") {
			at := slices.IndexFunc(columns, func(c column) bool { return c.name == strings.TrimSpace(name) })
			if at < 0 {
				return nil, console.Usage("--tables names %q, which no --column names; it has the form age*sex,city", name)
			}
			if slices.Contains(set, at) {
				return nil, console.Usage("--tables %s: the table %s names %s twice", o.tables, text, columns[at].name)
			}
			set = append(set, at)
		}
		slices.Sort(set)
		if slices.ContainsFunc(sets, func(other []int) bool { return slices.Equal(set, other) }) {
			return nil, console.Usage("--tables %s: the table %s is there twice", o.tables, text)
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// randomizeMarginals writes reports about tables over columns of values.
func randomizeMarginals(s *console.Console, o *options, columns []column) error {
	if o.mechanism != marginals {
		return console.Usage("several columns of values take --mechanism %s, which chooses one for each table, not %q",
			marginals, o.mechanism)
	}
	e, err := o.epsilonOf(marginals)
	if err != nil {
		return err
	}
	sets, err := o.setsOf(columns)
	if err != nil {
		return err
	}
	var all [][]uint64
	err = people(s, o, columns, func(fields []string) error {
		person := make([]uint64, len(columns))
		for i, c := range columns {
			v, err := c.domain.value(fields[i])
			if err != nil {
				return console.Usage("%s: %s", c.name, strings.TrimPrefix(err.Error(), "usage: "))
			}
			person[i] = v
		}
		all = append(all, person)
		return nil
	})
	if err != nil {
		return err
	}
	var sizes []uint64
	var of []local.Column
	for _, c := range columns {
		sizes = append(sizes, c.domain.k)
		of = append(of, local.Column{Name: c.name, Values: c.domain.k, Domain: c.domain.digest})
	}
	m, err := local.NewMarginals(e, sizes, sets, int64(len(all)))
	if err != nil {
		return err
	}
	switch {
	case len(sets) == 1:
	case m.Split():
		s.Note("each person reports about all %d tables, with ε = %s each\n", len(sets),
			render.Given(e.Share(1, int64(len(sets))).Rat()))
	default:
		s.Note("each person draws one of %d tables, and reports about it with ε = %s\n", len(sets), e)
	}
	var reports []local.MarginalsReport
	for _, person := range all {
		r, err := m.Randomize(person)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	write := func(w io.Writer) error { return m.Write(w, of, reports) }
	return writeOut(s, o, write, randomizedJSON{marginals, json.RawMessage(render.JSONRat(e.Rat())), len(reports), m.Bits()})
}

// tables are the estimates of a file of reports about marginals.
type tables struct {
	m          *local.Marginals
	tally      *local.MarginalsTally
	columns    []column
	found      [][]local.Frequency // of each table; nil if nobody reported about it
	confidence string
	shuffled   *shuffled
}

// estimateMarginals estimates the counts of all tables.
func estimateMarginals(s *console.Console, o *options, in io.Reader, confidence float64) error {
	if err := o.single(marginals); err != nil {
		return err
	}
	given, err := o.columnsOf()
	if err != nil {
		return err
	}
	t := tables{confidence: o.confidence}
	var epsilon privacy.Epsilon
	t.m, t.tally, err = local.ReadMarginals(in, func(of []local.Column, e privacy.Epsilon) error {
		if err := o.agrees(marginals, e); err != nil {
			return err
		}
		epsilon = e
		t.columns, err = matched(given, of)
		return err
	})
	if err != nil {
		return fileError(err, o.in)
	}
	if t.shuffled, err = o.shuffle(t.tally.Reports(), epsilon); err != nil {
		return err
	}
	for i := range t.m.Sets() {
		var found []local.Frequency
		if t.tally.Of(i) > 0 {
			if found, err = t.tally.Estimate(i, confidence); err != nil {
				return err
			}
		}
		t.found = append(t.found, found)
	}
	return t.show(s)
}

// matched returns the columns of a file of reports, with the texts of their values by --column.
func matched(given []column, of []local.Column) (columns []column, err error) {
	for _, c := range of {
		at := slices.IndexFunc(given, func(g column) bool { return g.name == c.Name })
		if at < 0 && c.Domain != "" {
			return nil, console.Usage("--column %s=FILE is missing: the reports are about the values of a file", c.Name)
		}
		if at < 0 {
			columns = append(columns, column{name: c.Name, domain: domain{k: c.Values}})
			continue
		}
		if g := given[at]; g.ofNumbers() || g.domain.k != c.Values || g.domain.digest != c.Domain {
			return nil, console.Usage("the reports are about other values of %s than those of --column", c.Name)
		}
		columns = append(columns, given[at])
	}
	for _, g := range given {
		if !slices.ContainsFunc(of, func(c local.Column) bool { return c.Name == g.name }) {
			return nil, console.Usage("the reports have no column %s", g.name)
		}
	}
	return columns, nil
}

// names returns the texts of the values of a cell, the last column fastest.
func (t *tables) names(table int, cell uint64) []string {
	set := t.m.Sets()[table]
	out := make([]string, len(set))
	for i := len(set) - 1; i >= 0; i-- {
		d := t.columns[set[i]].domain
		out[i], cell = d.name(cell%d.k), cell/d.k
	}
	return out
}

// of returns the names of the columns of a table.
func (t *tables) of(table int) (names []string) {
	for _, a := range t.m.Sets()[table] {
		names = append(names, t.columns[a].name)
	}
	return names
}

func (t *tables) words() string {
	how := " Each person drew one table, and reported about it alone."
	switch {
	case len(t.found) == 1:
		how = ""
	case t.m.Split():
		how = " Each person reported about all tables, with an equal part of ε each."
	}
	return fmt.Sprintf("%s; each is private by itself, with ε = %s.%s\n"+
		"The %s intervals cover the sampling of the senders too, and are for each cell alone.",
		render.Plural(int(t.tally.Reports()), "report"), t.m.Epsilon(), how, render.Percent(t.confidence))
}
