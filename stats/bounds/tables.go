package bounds

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"dither/curator"
)

// subject is one thing that the doctor examines: the rows of a unit, the groups of a unit, or the values of a column.
type subject struct {
	what   what
	table  curator.Table
	column curator.TableColumn // of groups, values and lists
	kind   kind
	weight int64 // its part of the price, in relation to others
	sql    func(edges []float64) string
	rows   string // the MaxRows of its questions
}

type what string

const (
	rowsPerUnit what = "rows_per_unit"
	maxGroups   what = "max_groups"
	boundsOf    what = "bounds"
	valuesOf    what = "values"
)

// name returns the name of a subject, as in the policy.
func (s subject) name() string {
	name := curator.SQLName(s.table.Name)
	if s.column.Name != "" {
		name += "." + curator.SQLName(s.column.Name)
	}
	return name
}

// subjects returns what can be examined in a table of persons.
func subjects(t curator.Table, all []curator.Table) (out []subject, err error) {
	from, unit, err := unitOf(t, all)
	if err != nil {
		return nil, err
	}
	rows, several := "", t.Limits.MaxRows > 1
	if unit != "" {
		rows = "1"
	}
	if unit != "" && several {
		out = append(out, subject{
			what: rowsPerUnit, table: t, kind: integers, weight: 2,
			sql: inside(from, unit, "COUNT(*)", fmt.Sprintf("rows of one unit in %s", curator.SQLName(t.Name))),
		})
	}
	for _, c := range t.Columns {
		s := subject{table: t, column: c, weight: 2, rows: rows}
		switch {
		case c.Name == t.Unit, c.Name == t.Through, c.References != "", referred(t, c, all), c.Name == t.Part:
			continue // the policy allows no bounds and no values there
		case unit != "" && several && (len(c.Values) > 0 || c.Type == "boolean"):
			s.what, s.kind, s.weight, s.rows = maxGroups, integers, 1, ""
			s.sql = inside(from, unit, "COUNT(DISTINCT x."+curator.SQLName(c.Name)+")",
				fmt.Sprintf("values of %s of one unit", s.name()))
		case len(c.Values) > 0, c.ValuesFrom != "", c.Type == "boolean":
			continue
		case c.Type == "text":
			s.what, s.weight = valuesOf, 1
		default:
			var ok bool
			if s.kind, ok = kindOf(c.Type); !ok {
				continue
			}
			if s.kind.calendar() {
				s.weight = 1
			}
			s.what, s.sql = boundsOf, ofValues(s)
		}
		out = append(out, s)
	}
	return out, nil
}

// referred reports whether a column of some table refers to column c of table t.
func referred(t curator.Table, c curator.TableColumn, all []curator.Table) bool {
	return slices.ContainsFunc(all, func(o curator.Table) bool {
		return slices.ContainsFunc(o.Columns, func(from curator.TableColumn) bool {
			return from.References == t.Name+"."+c.Name
		})
	})
}

func kindOf(name string) (kind, bool) {
	k, ok := map[string]kind{"real": reals, "integer": integers, "date": days, "timestamp": moments}[name]
	return k, ok
}

// unitOf returns the FROM clause of a question that groups the rows of a table, as x, by its unit, and the unit's
// column there; "" if each row is a unit.
func unitOf(t curator.Table, all []curator.Table) (from, unit string, err error) {
	from, at := curator.SQLName(t.Name)+" x", "x"
	for n := 0; t.Through != ""; n++ {
		i := slices.IndexFunc(t.Columns, func(c curator.TableColumn) bool { return c.Name == t.Through })
		j := -1
		if i >= 0 {
			j = slices.IndexFunc(all, func(o curator.Table) bool {
				return strings.HasPrefix(t.Columns[i].References, o.Name+".")
			})
		}
		if j < 0 {
			return "", "", fmt.Errorf("the unit of table %s is not found", t.Name)
		}
		next := "u" + strconv.Itoa(n)
		from += fmt.Sprintf(" JOIN %s %s ON %s.%s = %s.%s", curator.SQLName(all[j].Name), next, at,
			curator.SQLName(t.Through), next, curator.SQLName(strings.TrimPrefix(t.Columns[i].References, all[j].Name+".")))
		t, at = all[j], next
	}
	if t.Unit == "" {
		return "", "", nil
	}
	return from, at + "." + curator.SQLName(t.Unit), nil
}

// inside returns a histogram of an aggregate of each unit.
func inside(from, unit, aggregate, about string) func([]float64) string {
	return func(edges []float64) string {
		return fmt.Sprintf("/* dither doctor: %s */ SELECT %s AS bin, COUNT(*) AS units FROM "+
			"(SELECT %s AS u, %s AS n FROM %s GROUP BY %s) q GROUP BY 1",
			comment(about), integers.bins("n", edges), unit, aggregate, from, unit)
	}
}

// ofValues returns a histogram of a column's values, of one row of each unit.
func ofValues(s subject) func([]float64) string {
	return func(edges []float64) string {
		x := curator.SQLName(s.column.Name)
		return fmt.Sprintf("/* dither doctor: values of %s, without declared bounds */ SELECT %s AS bin, COUNT(*) AS units "+
			"FROM %s WHERE %s IS NOT NULL GROUP BY 1", comment(s.name()), s.kind.bins(x, edges), curator.SQLName(s.table.Name), x)
	}
}

// ofList returns the question that selects the values of a column.
func ofList(s subject) string {
	x := curator.SQLName(s.column.Name)
	return fmt.Sprintf("/* dither doctor: values of %s */ SELECT %s AS value, COUNT(*) AS units FROM %s WHERE %s IS NOT NULL GROUP BY %s",
		comment(s.name()), x, curator.SQLName(s.table.Name), x, x)
}

// comment returns a text that ends no comment and begins none.
func comment(text string) string {
	return strings.NewReplacer("*/", "* /", "/*", "/ *").Replace(text)
}

// bins returns the SQL expression of the number of the bin that contains x.
func (k kind) bins(x string, edges []float64) string {
	var b strings.Builder
	b.WriteString("CASE")
	for i, e := range edges {
		fmt.Fprintf(&b, " WHEN %s < %s THEN %d", x, k.literal(e), i)
	}
	fmt.Fprintf(&b, " ELSE %d END", len(edges))
	return b.String()
}

// literal returns an edge as SQL writes it.
func (k kind) literal(x float64) string {
	switch k {
	case days:
		return "DATE '" + k.text(x) + "'"
	case moments:
		return "TIMESTAMP '" + k.text(x) + "'"
	}
	return k.text(x)
}

// text returns a bound as the policy writes it.
func (k kind) text(x float64) string {
	switch k {
	case integers:
		return strconv.FormatInt(int64(x), 10)
	case days:
		return time.Unix(int64(x)*86400, 0).UTC().Format("2006-01-02")
	case moments:
		return time.UnixMicro(int64(x)).UTC().Format("2006-01-02 15:04:05.999999")
	}
	if a := math.Abs(x); x == 0 || 1e-5 <= a && a < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'e', -1, 64)
}

// parsed returns the number of a declared bound.
func (k kind) parsed(text string) (float64, bool) {
	layout := ""
	switch k {
	case days:
		layout = "2006-01-02"
	case moments:
		layout = "2006-01-02 15:04:05"
	default:
		x, err := strconv.ParseFloat(text, 64)
		return x, err == nil
	}
	at, err := time.Parse(layout, text)
	if err != nil {
		return 0, false
	}
	if k == days {
		return float64(at.Unix() / 86400), true
	}
	return float64(at.UnixMicro()), true
}
