package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"dither/curator"
	"dither/internal/plot"
)

// ChartOf returns an answer as a chart, with a panel for each measure and a group for each value of the keys. With
// several keys, the key with the fewest values distinguishes the series, if it has few enough values. The other
// keys together name the groups.
func ChartOf(r *curator.Release) plot.Chart {
	c := plot.Chart{Title: r.SQL, Caption: caption(r)}
	var keys, measures []int
	for i, column := range r.Columns {
		if column.Kind == curator.Key {
			keys = append(keys, i)
		} else {
			measures = append(measures, i)
		}
	}
	others := othersOf(r, keys)
	keys = slices.DeleteFunc(keys, others.is)
	measures = onAxis(&c, r, measures)
	if len(measures) > plot.MaxPanels {
		c.Caption += fmt.Sprintf("; the first %d of %d columns", plot.MaxPanels, len(measures))
		measures = measures[:plot.MaxPanels]
	}
	rows := slices.Clone(r.Rows)
	groups, series := scales(r, keys, others)
	if len(groups.keys) == 1 && orderly(rows, groups.keys[0]) {
		c.Ordered = true
		slices.SortStableFunc(
			rows,
			func(a, b curator.Row) int { return compareKeys(a[groups.keys[0]].Key, b[groups.keys[0]].Key) },
		)
	}
	groups.read(rows)
	c.Key, c.Groups = groups.title(r), groups.names
	if len(series.keys) > 0 {
		c.Legend, c.Series = series.title(r), series.names
	}
	for _, m := range measures {
		c.Panels = append(c.Panels, panelOf(r.Columns[m], rows, m, groups, series))
	}
	return c
}

// othersColumn is the column that says which row has all groups that are not released; none if there is no such row.
// The row is a group by itself, and not one of the group whose keys are NULL.
type othersColumn struct {
	any    bool
	column int
}

func (o othersColumn) is(column int) bool { return o.any && column == o.column }

// has reports whether a row has all groups that are not released.
func (o othersColumn) has(row curator.Row) bool { return o.any && row[o.column].Key == true }

// othersOf finds that column: it comes last, and is true in one row, whose other keys are NULL.
func othersOf(r *curator.Release, keys []int) othersColumn {
	if len(keys) < 2 {
		return othersColumn{}
	}
	o, found := othersColumn{true, keys[len(keys)-1]}, 0
	if o.column != len(r.Columns)-1 || !strings.HasPrefix(r.Columns[o.column].Name, "other") {
		return othersColumn{}
	}
	for _, row := range r.Rows {
		if _, is := row[o.column].Key.(bool); !is {
			return othersColumn{}
		}
		if !o.has(row) {
			continue
		}
		found++
		if slices.ContainsFunc(keys[:len(keys)-1], func(k int) bool { return row[k].Key != nil }) {
			return othersColumn{}
		}
	}
	if found != 1 {
		return othersColumn{}
	}
	return o
}

// onAxis leaves out columns of dates and texts, which have no place on a numeric axis, unless there are no other
// columns.
func onAxis(c *plot.Chart, r *curator.Release, measures []int) []int {
	numbers := slices.DeleteFunc(slices.Clone(measures), func(i int) bool {
		return slices.ContainsFunc(r.Rows, func(row curator.Row) bool {
			e := row[i].Estimate
			return e != nil && e.Value != nil && e.Value.Text != nil
		})
	})
	if len(numbers) == 0 || len(numbers) == len(measures) {
		return measures
	}
	c.Caption += "; columns of dates and texts are left out"
	return numbers
}

func caption(r *curator.Release) string {
	return BoundedCaption(r.Limits, TruncatedCaption(releaseTruncation(r),
		paid(r)+"; "+Percent(r.Confidence)+" intervals cover noise, not sampling"+bareCaption(r)+notesCaption(r)))
}

// notesCaption returns the notes of an answer.
func notesCaption(r *curator.Release) string {
	if len(r.Notes) == 0 {
		return ""
	}
	return ". " + strings.Join(r.Notes, " ")
}

// bareCaption names the columns that have no interval.
func bareCaption(r *curator.Release) string {
	var names []string
	for _, c := range r.Columns {
		if c.NoInterval != "" {
			names = append(names, Printable(c.Name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; without an interval: " + strings.Join(names, ", ")
}

// panelOf returns the panel of one measure. A quotient, such as an average, is drawn as a point, because a bar from
// 0 would mean nothing.
func panelOf(column curator.Column, rows []curator.Row, measure int, groups, series scale) plot.Panel {
	p := plot.Panel{Name: column.Name, Points: column.Mechanism == curator.Ratio || column.Mechanism == curator.Derived}
	for range max(1, len(series.names)) {
		marks := make([]plot.Mark, len(groups.names))
		for g := range marks {
			marks[g].Missing = true
		}
		p.Marks = append(p.Marks, marks)
	}
	for i, row := range rows {
		group := groups.places[groups.id(row)]
		if groups.each {
			group = i
		}
		if e := row[measure].Estimate; e != nil {
			p.Marks[series.places[series.id(row)]][group] = MarkOf(e)
		}
	}
	return p
}

// MarkOf returns an estimate with its interval as a mark.
func MarkOf(e *curator.Estimate) plot.Mark {
	m := plot.Mark{Value: math.NaN(), Low: math.Inf(-1), High: math.Inf(1), Text: withError(e)}
	m.Hollow = e.Vacuous
	if e.Bare {
		m.Low, m.High = math.NaN(), math.NaN()
	}
	if e.Value != nil && e.Value.Text != nil {
		m.Missing = true // dates and texts cannot be drawn
	}
	if e.Value != nil {
		m.Value = e.Value.Real
	}
	if e.Low != nil {
		m.Low = e.Low.Real
	}
	if e.High != nil {
		m.High = e.High.Real
	}
	return m
}

// scale is a discrete axis. Its positions are the combinations of values of some keys, in the order of their first
// rows.
type scale struct {
	keys   []int
	each   bool // each row has a position of its own, even if keys repeat
	others othersColumn
	names  []string
	places map[string]int
}

// scales divides the keys between groups and series. Keys may fail to identify rows, because SELECT may omit some.
// There are then no series, and rows with the same name are drawn side by side.
func scales(r *curator.Release, keys []int, others othersColumn) (groups, series scale) {
	groups.keys, groups.others = keys, others
	all := scale{keys: keys, others: others}
	all.read(r.Rows)
	groups.each = len(all.names) < len(r.Rows)
	if len(keys) > 1 && !groups.each && !others.any {
		fewest := plot.MaxSeries
		for _, k := range keys {
			by := scale{keys: []int{k}}
			if by.read(r.Rows); len(by.names) <= fewest {
				series, fewest = by, len(by.names)
			}
		}
	}
	if len(series.keys) > 0 {
		groups.keys = slices.DeleteFunc(slices.Clone(keys), func(k int) bool { return k == series.keys[0] })
	} else {
		series.read(r.Rows)
	}
	return groups, series
}

// read assigns a position to each combination of keys, in the order of the rows.
func (a *scale) read(rows []curator.Row) {
	a.places = map[string]int{}
	for _, row := range rows {
		id := a.id(row)
		if _, ok := a.places[id]; !ok || a.each {
			a.places[id] = len(a.names)
			a.names = append(a.names, a.name(row))
		}
	}
}

// id returns a text that identifies a row's keys. Unlike the name, it distinguishes NULL from the text 'NULL'.
func (a *scale) id(row curator.Row) string {
	var b strings.Builder
	if a.others.has(row) {
		b.WriteString("others ")
	}
	for _, k := range a.keys {
		fmt.Fprintf(&b, "%T %q %t ", row[k].Key, fmt.Sprint(row[k].Key), row[k].Summed)
	}
	return b.String()
}

func (a *scale) name(row curator.Row) string {
	if a.others.has(row) {
		return "others"
	}
	parts := make([]string, len(a.keys))
	for i, k := range a.keys {
		parts[i] = cellKey(row[k])
	}
	return strings.Join(parts, " · ")
}

func (a *scale) title(r *curator.Release) string {
	parts := make([]string, len(a.keys))
	for i, k := range a.keys {
		parts[i] = r.Columns[k].Name
	}
	return strings.Join(parts, " · ")
}

// orderly reports whether all values of a key are numbers or dates, which have a natural order.
func orderly(rows []curator.Row, key int) bool {
	for _, row := range rows {
		switch k := row[key].Key.(type) {
		case nil, int64, float64:
		case string:
			if _, err := time.Parse(time.DateOnly, k); err != nil {
				return false
			}
		default:
			return false
		}
	}
	return len(rows) > 0
}

// compareKeys compares two numbers or two dates. NULL is last.
func compareKeys(a, b any) int {
	if a == nil || b == nil {
		return cmp.Compare(rank(a), rank(b))
	}
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b)
		}
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b)
		}
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b)
		}
	}
	return 0
}

func rank(key any) int {
	if key == nil {
		return 1
	}
	return 0
}
