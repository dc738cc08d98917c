package enginetest

import (
	"slices"

	"pgregory.net/rapid"

	"dither/internal/policy"
	"dither/internal/value"
)

// RandomTwins draws the rows of two neighbouring databases of a world. In the second, one person is missing or
// replaced, with all its rows in all tables. One row of table t, whose rows are units, is missing or replaced too; no
// question reads both t and persons. The person is chosen to matter: it often has more rows than count, in one group or
// in many, at the ends of the bounds. It may be the only person with several rows, or with a NULL, so that sealing
// records different facts about the two databases. The order of each table's rows is random. Public tables are equal in
// both.
func RandomTwins(t *rapid.T, w World) (before, after Tables) {
	d := drawer{generator{t}, w, generator{t}.chance(3), map[string][]value.Value{}}
	before = Tables{}
	for _, table := range w.Policy.Tables {
		if table.Public {
			before[table.Name] = Rows(t, table, 14) // more rows with one value than a join may use
			for range rapid.IntRange(0, 6).Draw(t, "that meet") {
				before[table.Name] = append(before[table.Name], d.dense(table))
			}
			for _, c := range table.Columns {
				for _, r := range before[table.Name] {
					d.known[table.Name+"."+c.Name] = append(d.known[table.Name+"."+c.Name], r[c.Name])
				}
			}
		}
	}
	for _, table := range w.Policy.Tables {
		if !table.Public {
			before[table.Name] = d.others(table)
		}
	}
	after = cloned(before)
	draw := func(table string) []Row { return d.heavy(w.Policy.Table(table)) }
	person := func(table string) []Row {
		return assigned(draw(table), map[string]string{"p": "person", "v": "who"}[table], victim)
	}
	if w.Relation {
		for _, table := range []string{"p", "v", "l", "m"} {
			before[table] = append(before[table], person(table)...)
		}
		after = withoutPerson(t, before, victim, w.Change, draw)
	} else {
		before["p"] = append(before["p"], person("p")...)
		if w.Change {
			after["p"] = append(after["p"],
				assigned(draw("p"), "person", rapid.SampledFrom([]int64{victim, somebodyNew}).Draw(t, "who comes"))...)
		}
	}
	before["t"] = append(before["t"], d.row(w.Policy.Table("t")))
	after["t"] = before["t"][:len(before["t"])-1]
	if w.Change {
		after["t"] = append(slices.Clone(after["t"]), d.row(w.Policy.Table("t")))
	}
	return d.shuffled(before), d.shuffled(after)
}

const victim = 1

// drawer makes random rows for the tables of a world.
type drawer struct {
	generator
	w     World
	light bool // all persons but one have one row each, without NULLs
	known map[string][]value.Value
}

// others makes the rows of all persons but the one that heavy makes rows of, and rows without a person.
func (d drawer) others(table *policy.Table) (out []Row) {
	for i := range rapid.SampledFrom([]int{0, 1, 4, 9, 9}).Draw(d.t, "others") {
		r := d.row(table)
		for name := range r {
			switch {
			case name != "person" && name != "who":
			case d.light:
				r[name] = value.OfInt(int64(i + 2))
			case d.chance(8):
				r[name] = value.NullOf(table.Column(name).Type)
			default:
				r[name] = value.OfInt(int64(rapid.IntRange(2, 5).Draw(d.t, "person")))
			}
		}
		out = append(out, r)
	}
	return out
}

// heavy draws the rows of one person. Their number is at most a little more than twice the number that counts. Most
// of them are equal, or all are drawn independently.
func (d drawer) heavy(table *policy.Table) (out []Row) {
	most := int(table.Unit.RowsPerUnit)
	if table.Name == "l" || table.Name == "m" {
		most = 4
	}
	n := rapid.SampledFrom([]int{1, most, most + 1, most + 1, 2*most + 3, 2*most + 3}).Draw(d.t, "heavy")
	if d.light && d.chance(3) { // no person has several rows
		n = 1
	}
	alike, first := d.chance(2), d.dense(table)
	if d.chance(3) { // all rows equal, with values at the same ends of their bounds
		alike, first = true, d.extreme(table, d.chance(2))
	}
	for range n {
		r := first
		if !alike || d.chance(6) {
			r = d.dense(table)
		}
		out = append(out, r)
	}
	return out
}

// extreme returns a row with the first declared values, and with numbers at the upper or at the lower ends of their
// bounds.
func (d drawer) extreme(table *policy.Table, upper bool) Row {
	d.light = true
	out := d.row(table)
	for _, c := range table.Columns {
		end := c.Lower
		if upper {
			end = c.Upper
		}
		switch {
		case len(c.Values) > 0:
			out[c.Name] = c.Values[0]
		case end != nil && c.Type == value.Real:
			x, _ := end.Float64()
			out[c.Name] = value.OfReal(x)
		case end != nil:
			out[c.Name] = value.Value{Type: c.Type, Int: end.Num().Int64()}
		}
	}
	return out
}

func assigned(rows []Row, column string, person int64) (out []Row) {
	for _, r := range rows {
		with := Row{}
		for name, v := range r {
			with[name] = v
		}
		if column != "" {
			with[column] = value.OfInt(person)
		}
		out = append(out, with)
	}
	return out
}

func (d drawer) row(table *policy.Table) Row {
	out := Row{}
	for _, c := range table.Columns {
		v := d.value(c)
		if c.Nullable && !d.light && d.chance(7) {
			v = value.NullOf(c.Type)
		}
		out[c.Name] = v
	}
	return out
}

// dense makes a random row with few NULLs, even if d.light is set.
func (d drawer) dense(table *policy.Table) Row {
	d.light = false
	out := d.row(table)
	for _, c := range table.Columns {
		if out[c.Name].Null && !d.chance(4) {
			out[c.Name] = d.value(c)
		}
	}
	return out
}

// value draws a value of a column: in most cases a declared one, and often an end of its bounds.
func (d drawer) value(c *policy.Column) value.Value {
	if n := few[c.Name]; n > 0 {
		return value.OfInt(int64(rapid.IntRange(1, n).Draw(d.t, c.Name)))
	}
	values := c.Values
	if c.ValuesFrom != nil {
		values = slices.DeleteFunc(slices.Clone(d.known[c.ValuesFrom.Table+"."+c.ValuesFrom.Column]),
			func(v value.Value) bool { return v.Null })
	}
	switch {
	case !d.light && d.chance(8):
		return rapid.SampledFrom(hostile[c.Type]).Draw(d.t, c.Name)
	case len(values) > 0:
		return rapid.SampledFrom(values).Draw(d.t, c.Name)
	case c.Type == value.Real && c.Lower != nil:
		lo, _ := c.Lower.Float64()
		hi, _ := c.Upper.Float64()
		return value.OfReal(rapid.SampledFrom([]float64{lo, hi, hi, lo + (hi-lo)/2, lo + (hi-lo)/3}).Draw(d.t, c.Name))
	case c.Lower != nil:
		lo, hi := c.Lower.Num().Int64(), c.Upper.Num().Int64()
		return value.Value{
			Type: c.Type,
			Int: rapid.SampledFrom([]int64{lo, hi, hi, lo + (hi-lo)/2, lo + (hi-lo)/3, min(lo+1, hi)}).Draw(d.t,
				c.Name),
		}
	case c.Type == value.Text:
		return rapid.SampledFrom(hostile[c.Type][:6]).Draw(d.t, c.Name)
	case c.Type == value.Real:
		return value.OfReal(rapid.SampledFrom([]float64{0, 1, -4.5, 1e6, 2.5}).Draw(d.t, c.Name))
	case c.Type == value.Integer:
		return value.OfInt(rapid.SampledFrom([]int64{0, 1, 2, 5, -5, 1000}).Draw(d.t, c.Name))
	}
	return rapid.SampledFrom(hostile[c.Type]).Draw(d.t, c.Name)
}

// shuffled returns the tables with their rows in random order, and with units of the type of their column.
func (d drawer) shuffled(tables Tables) Tables {
	out := Tables{}
	for name, rows := range tables {
		table := d.w.Policy.Table(name)
		typed := assigned(rows, "", 0)
		for _, r := range typed {
			if unit := table.Unit.Column; unit != "" {
				r[unit] = person(table.Column(unit).Type, r[unit])
			}
		}
		if len(typed) > 1 {
			typed = rapid.Permutation(typed).Draw(d.t, "order")
		}
		out[name] = typed
	}
	return out
}

// person returns the value, of the given type, that stands for person number v.
func person(of value.Type, v value.Value) value.Value {
	switch {
	case v.Null:
		return value.NullOf(of)
	case of == value.Text && v.Int < 8:
		return value.OfText([]string{"NULL", "a", "A", "a ", "é", "", "b|1", "7"}[v.Int])
	case of == value.Text:
		return value.OfText(v.String())
	case of == value.Date:
		return value.OfDay(10_950 + v.Int)
	}
	return v
}
