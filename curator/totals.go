package curator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/policy"
)

// DeclaredTotal is a number of rows that the policy declares, as a public constant.
type DeclaredTotal struct {
	Column string `json:"column,omitempty"` // "" for all rows
	Value  string `json:"value,omitempty"`
	Count  int64  `json:"count"`
}

// KnownTotal is a sum of a histogram's cells that follows from the policy's totals: all cells, or those with one value of
// a key.
type KnownTotal struct {
	Key   int // the key, from 0; −1 for all cells
	Value int // the index of the value among the key's known values
	Count int64
}

// known returns the sums of cells that the policy's totals determine, for the histogram of a plan. values are the values of
// the keys, and column names the column whose values the i-th key has; "" for none. held reports whether every row of the
// table has one of the values of the i-th key.
//
// A total is about all rows of its table, and a histogram has only rows with a known value of every key. So a total of all
// rows is a sum of cells if every row has a known value of every key, and a total of a key's value if every row has one of
// every other key. lacks has the keys that rows may lack. The policy can also declare that rows lack no value of a key:
// its totals of all values of the column then add up to that of all rows. The totals are constants of the policy, so no
// row decides which of them count.
func (c *Session) known(
	b *bounded.Statement, values [][]any, column func(int) string, held func(int) bool,
) (out []KnownTotal, lacks []int) {
	if b.Source != nil || b.Where != nil || b.Part != nil || len(b.Measures) != 1 || b.Measures[0].Kind != bounded.CountRows {
		return nil, nil
	}
	t := c.policy.Table(b.Table)
	if t == nil || len(t.Totals) == 0 {
		return nil, nil
	}
	all := int64(-1)
	of := make([][]KnownTotal, len(values)) // by key
	for _, total := range t.Totals {
		if total.Column == "" {
			all = total.Count
			continue
		}
		for k := range values {
			at := slices.IndexFunc(values[k], func(v any) bool { return v != nil && fmt.Sprint(v) == total.Value.String() })
			if column(k) == total.Column && at >= 0 {
				of[k] = append(of[k], KnownTotal{Key: k, Value: at, Count: total.Count})
			}
		}
	}
	for k := range values {
		sum, n := int64(0), 0
		for _, total := range of[k] {
			sum += total.Count
		}
		for _, v := range values[k] {
			if v != nil {
				n++
			}
		}
		if !held(k) && (len(of[k]) < n || sum != all) {
			lacks = append(lacks, k)
		}
	}
	if all >= 0 && len(lacks) == 0 {
		out = append(out, KnownTotal{Key: -1, Count: all})
	}
	for k := range of {
		if len(lacks) == 0 || len(lacks) == 1 && lacks[0] == k {
			out = append(out, of[k]...)
		}
	}
	return out, lacks
}

// unusedTotals says which keys rows may lack, so that a total of the policy is not used; "" if all are used.
func unusedTotals(lacks []int, name func(int) string) string {
	if len(lacks) == 0 {
		return ""
	}
	var names []string
	for _, k := range lacks {
		names = append(names, name(k))
	}
	text := strings.Join(names, ", ")
	return fmt.Sprintf("Some of the policy's totals are not used, because rows may have no known value of %s. Declare %s nullable, "+
		"or totals of all values that add up to that of all rows.", text, text)
}

// totals sets the known totals of a question's histogram.
func (d *Domain) totals(c *Session, p *plan.Linear) {
	column := func(k int) string { return keyColumn(&p.Base, p.Grouped[k]) }
	known, lacks := c.known(&p.Base, d.Values, column, c.hasAll(p, d.Values))
	d.Totals, d.TotalsNote = known, unusedTotals(lacks, func(k int) string { return d.Keys[k] })
}

// totals sets the known totals of the histogram of several questions.
func (g *gridding) totals(out *Grid, p *plan.Linear) {
	column := func(k int) string { return g.keys[k].column }
	known, lacks := g.c.known(&p.Base, out.Values, column, g.c.hasAll(p, out.Values))
	out.Totals, out.TotalsNote = known, unusedTotals(lacks, func(k int) string { return out.Keys[k] })
}

// hasAll reports whether every row has one of the values of the k-th key.
func (c *Session) hasAll(p *plan.Linear, values [][]any) func(k int) bool {
	return func(k int) bool {
		return slices.Contains(values[k], nil) || c.everywhere(&p.Base, p.Base.Keys[p.Grouped[k]].Expr)
	}
}

// keyColumn returns the column that a key is; "" for another expression.
func keyColumn(b *bounded.Statement, k int) string {
	if e := b.Keys[k].Expr; e.Op == bounded.OpColumn && b.Source == nil {
		return b.Columns[e.Column].Name
	}
	return ""
}

// JointTotal is a number of rows in some cells of a [Joint] that follows from the policy's totals.
type JointTotal struct {
	In    []bool // for each of Joint.Cells, whether the number has its rows
	Count int64
}

// totals returns the known totals of a Joint: of all rows, and of counts whose condition is about one column.
func (b *jointly) totals(ctx context.Context, p *plan.Linear, j *Joint, questions []string, by Request) (out []JointTotal) {
	if of := b.c.policy.Table(p.Base.Table); of == nil || len(of.Totals) == 0 {
		return nil
	}
	all, _ := b.c.known(&p.Base, nil, nil, nil)
	for _, t := range all {
		out = append(out, JointTotal{In: slices.Repeat([]bool{true}, len(j.Cells)), Count: t.Count})
	}
	g, err := b.c.Grid(ctx, questions, by)
	if err != nil || len(g.Answers) != len(j.Counts) || p.Base.Where != nil {
		return out
	}
	for i, a := range g.Answers {
		if n, ok := a.declared(g.Totals); ok {
			out = append(out, JointTotal{In: j.Counts[i].In, Count: n})
		}
	}
	return out
}

// declared returns the sum of the totals of the values that an answer adds up, if it adds up values of one key that all have
// totals.
func (a *GridAnswer) declared(totals []KnownTotal) (sum int64, ok bool) {
	key := -1
	for k, c := range a.Columns {
		if c.All && !c.Grouped {
			continue
		}
		if key >= 0 || c.Grouped {
			return 0, false
		}
		key = k
	}
	if key < 0 {
		return 0, false
	}
	for _, v := range a.Columns[key].Values {
		at := slices.IndexFunc(totals, func(t KnownTotal) bool { return t.Key == key && t.Value == v })
		if at < 0 {
			return 0, false
		}
		sum += totals[at].Count
	}
	return sum, true
}

// everywhere reports whether an expression has one of its known values in every row of a sealed table. Sealing refuses other
// values of a column, unless it is nullable, if the number of units is declared.
func (c *Session) everywhere(b *bounded.Statement, e *bounded.Expr) bool {
	if e.Op == bounded.OpColumn && b.Source == nil {
		of, t := b.Columns[e.Column], c.policy.Table(b.Table)
		if t != nil && t.Units > 0 && !of.Nullable && of.ValuesFrom == nil {
			return true
		}
	}
	return c.certain(b, e)
}

// certain reports whether an expression has a value in every row of a sealed table (see [bounded.Statement.Certain]).
func (c *Session) certain(b *bounded.Statement, e *bounded.Expr) bool {
	return b.Certain(e, c.policy.Table(b.Table))
}

func totalsOf(t *policy.Table) (out []DeclaredTotal) {
	for _, total := range t.Totals {
		d := DeclaredTotal{Column: total.Column, Count: total.Count}
		if d.Column != "" {
			d.Value = total.Value.String()
		}
		out = append(out, d)
	}
	return out
}
