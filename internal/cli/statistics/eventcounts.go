package statistics

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"dither/curator"
	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/noise"
)

// eventCounts count the rows of a table by an ordered column, such as a time or an age, and by whether an event
// happened,
// for each group of another column.
type eventCounts struct {
	table, column, event, by, where string
	parts                           int // equal parts of the column's bounds; 0 is the default

	lives  bool       // the events end lives, so the rows of a person are one life
	key    orderedKey // of the column
	person string     // the column that identifies persons with several rows; "" if each row is counted
	blanks bool       // the column may be NULL
}

// question returns the question for the counts. If a person may have several rows, and the rows are of lives, each person
// counts once: at the time of the first event, or without an event at the last time; and in the least of the person's
// groups. A person with an event that has no time does not count.
func (l *eventCounts) question(s *console.Console) (string, error) {
	column, err := columnOf(s, l.table, l.column)
	if err != nil {
		return "", err
	}
	if l.lives && column.Type != "integer" && column.Type != "real" {
		return "", console.Usage("--time needs a column of numbers, and %s is %s", l.column, column.Type)
	}
	l.blanks = column.Nullable
	if l.key, err = orderedKeyOf(s, l.table, l.column, l.parts); err != nil {
		return "", err
	}
	if err := l.few(s); err != nil {
		return "", err
	}
	event, err := l.happened(s)
	if err != nil {
		return "", err
	}
	if err := l.findPerson(s); err != nil {
		return "", err
	}
	if l.person != "" {
		return l.ofPersons(s, event)
	}
	keys := []namedKey{{l.key.sql, l.column}, {"CASE WHEN " + event + " THEN 1 ELSE 0 END", "event"}}
	if l.by != "" {
		keys = slices.Insert(keys, 0, columnKey(l.by))
	}
	return groupedSQL(l.table, "COUNT(*)", l.counted(event), keys...), nil
}

// counted returns the condition of the rows that count: it is known whether the event happened. Without it, a row where
// it is not known would count as one without the event.
func (l *eventCounts) counted(event string) string {
	if l.where == "" {
		return event + " IS NOT NULL"
	}
	return "(" + l.where + "\n) AND " + event + " IS NOT NULL"
}

// findPerson sets the column that identifies persons, if the rows are of lives and a person may have several.
func (l *eventCounts) findPerson(s *console.Console) error {
	if !l.lives {
		return nil
	}
	return s.Asking(func(c *curator.Session) error {
		tables, err := c.Tables()
		for _, t := range tables {
			switch {
			case t.Name != l.table || !t.ManyRows:
			case t.Unit == "":
				return console.Usage("a person may have several rows in %s, and survival needs one time for each person: "+
					"each row is a unit, so the rows of a person cannot be put together", l.table)
			default:
				l.person = cmp.Or(t.Through, t.Unit)
			}
		}
		return err
	})
}

// ofPersons returns the question for the counts of persons.
func (l *eventCounts) ofPersons(s *console.Console, event string) (string, error) {
	column := curator.SQLName(l.column)
	items := []string{
		curator.SQLName(l.person), "MIN(CASE WHEN " + event + " THEN " + column + " END) AS first_event",
		"MAX(" + column + ") AS last_time",
	}
	keys := []namedKey{
		{l.key.of("COALESCE(first_event, last_time)"), l.column},
		{"CASE WHEN first_event IS NULL THEN 0 ELSE 1 END", "event"},
	}
	if l.by != "" {
		by, err := columnOf(s, l.table, l.by)
		if err != nil {
			return "", err
		}
		least := "MIN"
		if by.Type == "boolean" {
			least = "BOOL_AND"
		}
		items, keys = append(items, least+"("+curator.SQLName(l.by)+") AS person_group"), slices.Insert(keys, 0, namedKey{"person_group", l.by})
	}
	timed := ""
	if l.blanks { // the person is neither observed nor known to be without the event until the last time
		items = append(items, "MAX(CASE WHEN "+event+" AND "+column+" IS NULL THEN 1 ELSE 0 END) AS untimed_event")
		timed = " WHERE untimed_event = 0"
	}
	lives := "(SELECT " + strings.Join(items, ", ") + " FROM " + curator.SQLName(l.table) +
		" WHERE (" + l.counted(event) + "\n) GROUP BY " + curator.SQLName(l.person) + ") AS lives"
	selected, group := keysSQL(keys)
	return "SELECT " + selected + ", COUNT(*) FROM " + lives + timed + " GROUP BY " + group, nil
}

// perPerson returns a note on how the rows of a person were put together, if they were.
func (l *eventCounts) perPerson() []string {
	if l.person == "" {
		return nil
	}
	note := "Each " + l.person + " counts once, at the time of its first event, or without an event at its last time."
	if l.by != "" {
		note += " If it has several values of " + l.by + ", the least one counts."
	}
	if l.blanks {
		note += " It does not count if one of its events has no time."
	}
	return []string{note}
}

// happened returns the SQL condition that the event happened. The event is a boolean column, a numeric column that is
// above 0 if it happened, or a condition.
func (l *eventCounts) happened(s *console.Console) (string, error) {
	column, found, err := findColumn(s, l.table, l.event)
	if err != nil {
		return "", err
	}
	if !found {
		return "(" + l.event + "\n)", nil
	}
	switch column.Type {
	case "boolean":
		return "(" + curator.SQLName(l.event) + ")", nil
	case "integer", "real":
		return "(" + curator.SQLName(l.event) + " > 0)", nil
	}
	return "", console.Usage("the column %s is %s: give --event a boolean column, a number that is above 0 if the event "+
		"happened, or a condition such as \"status = 'dead'\"", l.event, column.Type)
}

// mostAnswered is the largest number of cells of an answer. A question with more is refused with a position in SQL that the
// user did not write.
const mostAnswered = 100_000

// few returns an error if an answer may have more cells than [mostAnswered], by the declared values of the columns.
func (l *eventCounts) few(s *console.Console) error {
	if l.by == "" {
		return nil
	}
	by, found, err := findColumn(s, l.table, l.by)
	if err != nil || !found {
		return err
	}
	values := valuesOf(by)
	if values > mostAnswered || 2*(values+1)*(l.key.groups+1) > mostAnswered { // with a cell for NULL of each
		return l.tooMany("more than " + strconv.Itoa(mostAnswered))
	}
	return nil
}

func (l *eventCounts) tooMany(cells string) error {
	part, flag := "stratum", "--bins"
	if l.lives {
		part, flag = "period", "--periods"
	}
	return console.Usage("there are %s cells of group, %s and event, and at most %d are possible: use fewer %s, or a --by with "+
		"fewer values", cells, part, hypothesis.MaxCells, flag)
}

// try refuses, before anything is paid, what has too many cells.
func (l *eventCounts) try(cells int) error {
	if cells > hypothesis.MaxCells {
		return l.tooMany(strconv.Itoa(cells))
	}
	return nil
}

// counted are the counts of a release: rows with the event, and the others, by group and by part of the column.
type counted struct {
	with, without [][]float64
	noise         noise.Distribution
	groups, parts []string // names; without --by there is one group, with an empty name
	keys          []string // of the parts, as the release has them; parts without rows that could count are left out
}

// read arranges the counts of a release.
func (l *eventCounts) read(r *released) (out counted, err error) {
	columns := 2
	if l.by != "" {
		columns = 3
	}
	cells, counts, d, err := r.counts("of events", columns)
	if err != nil {
		return out, err
	}
	out.noise = d
	at := func(list *[]string, name string) int {
		if i := slices.Index(*list, name); i >= 0 {
			return i
		}
		*list = append(*list, name)
		return len(*list) - 1
	}
	for i, cell := range cells {
		g, j := at(&out.groups, strings.Join(cell[:columns-2], "")), at(&out.parts, cell[columns-2])
		for len(out.with) <= g {
			out.with, out.without = append(out.with, nil), append(out.without, nil)
		}
		row := &out.without[g]
		if cell[columns-1] != "0" {
			row = &out.with[g]
		}
		for len(*row) <= j {
			*row = append(*row, 0)
		}
		(*row)[j] = counts[i]
	}
	for g := range out.groups { // a condition may leave no row with the event, or none without it
		for _, row := range []*[]float64{&out.with[g], &out.without[g]} {
			*row = append(*row, make([]float64, len(out.parts)-len(*row))...)
		}
	}
	out.keys = slices.Clone(out.parts)
	for j := range out.parts {
		out.parts[j] = l.key.name(out.parts[j])
	}
	return out, nil
}

// showCounted prints what was computed from counts: as CSV, as Markdown, or as text with the words below it.
func showCounted(
	s *console.Console, header []string, right []bool, rows [][]string, words []string, r *released,
) error {
	switch s.Format {
	case "csv":
		return s.CSV(render.TruncatedRecords(render.TruncationText(r.Truncation),
			render.BoundedRecords(r.Limits, append([][]string{header}, rows...))))
	case "markdown":
		s.Print("%s\n", render.MarkdownTable(header, right, rows))
		for _, line := range words {
			s.Print("%s", render.MarkdownParagraphs(line))
		}
		return nil
	}
	g := render.Grid{Right: right}
	g.Add(header...)
	for _, row := range rows {
		g.Add(row...)
	}
	s.Print("%s\n", g.Text("   "))
	for _, line := range words {
		s.Print("%s\n", render.Printable(line))
	}
	return nil
}
