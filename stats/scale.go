package stats

import (
	"math/big"
	"strings"

	"dither/curator"
	"dither/internal/exact"
)

// affine is how a number enters a scaled column: (x − centre)/half.
type affine struct {
	variable     int
	centre, half *big.Rat
}

// scale makes the scaled columns, and the map from their coefficients to those of the raw ones.
//
// Scaled column j is z_j = Π_{x∈C}(x − c)/h · Π_{x∈N∖C} x/h · Π indicators, with C the numbers that are centred. Written out it is a sum over the
// subsets S of C of raw columns, N∖S with the same indicators, times Π_{x∈S}(−c) / Πh; so Σ_j γ_j z_j = Σ_k β_k raw_k with
// β_k = Σ_j γ_j·(coefficient of raw_k in z_j). A number is centred where all of these are in the model.
func (d *designer) scale(out *Design) {
	n := len(d.columns)
	transform := make([][]*big.Rat, n)
	for k := range transform {
		transform[k] = make([]*big.Rat, n)
		for j := range transform[k] {
			transform[k][j] = new(big.Rat)
		}
	}
	most := make([]*big.Rat, len(d.terms)) // of a term, of which one column at most is not 0 in a row
	boxL1, boxL2 := new(big.Rat), new(big.Rat)
	for j, c := range d.columns {
		column, forms := d.scaled(c)
		out.Columns = append(out.Columns, column)
		d.expanded(j, c, forms, transform)
		boxL1.Add(boxL1, column.Most)
		boxL2.Add(boxL2, new(big.Rat).Mul(column.Most, column.Most))
		if most[c.term] == nil || most[c.term].Cmp(column.Most) < 0 {
			most[c.term] = column.Most
		}
	}
	l1, l2 := new(big.Rat), new(big.Rat)
	for _, m := range most {
		l1.Add(l1, m)
		l2.Add(l2, new(big.Rat).Mul(m, m))
	}
	out.MostOfL1, out.MostOfL2, out.Box = l1, rootAbove(l2), l1.Cmp(boxL1) == 0
	out.from = make([][]float64, n)
	for k, row := range transform {
		out.from[k] = make([]float64, n)
		for j, x := range row {
			out.from[k][j], _ = x.Float64()
		}
	}
}

// scaled is a raw column's scaled form.
func (d *designer) scaled(c *rawColumn) (DesignColumn, []affine) {
	column := DesignColumn{Name: d.name(c), Most: big.NewRat(1, 1), Width: 1}
	var centred []int
	var forms []affine
	var factors []string
	for _, v := range c.order {
		x := d.variables[v]
		if x.levels != nil {
			factors = append(factors, indicator(x.sql, x.levels[c.levels[v]]))
			continue
		}
		width, _ := new(big.Rat).Sub(x.high, x.low).Float64()
		column.Width *= width
		form := affine{v, new(big.Rat), largestRat(new(big.Rat).Abs(x.low), new(big.Rat).Abs(x.high))}
		if d.closed(c, centred, v) {
			centred = append(centred, v)
			half := big.NewRat(1, 2)
			form.centre = new(big.Rat).Mul(new(big.Rat).Add(x.low, x.high), half)
			form.half = new(big.Rat).Mul(new(big.Rat).Sub(x.high, x.low), half)
		}
		factors, forms = append(factors, affineSQL(x.sql, form.centre, form.half)), append(forms, form)
	}
	for i, f := range factors {
		if len(factors) > 1 && strings.Contains(f, " / ") {
			factors[i] = "(" + f + ")"
		}
	}
	column.SQL = strings.Join(factors, " * ")
	if len(factors) == 0 {
		column.SQL = "1"
	}
	return column, forms
}

// closed reports that centring a number of a column, with those that are centred already, adds columns that are in the model.
func (d *designer) closed(c *rawColumn, centred []int, v int) bool {
	for mask := range 1 << len(centred) {
		without := []int{v}
		for i, x := range centred {
			if mask>>i&1 == 1 {
				without = append(without, x)
			}
		}
		if _, ok := d.places[c.key(without...)]; !ok {
			return false
		}
	}
	return true
}

// expanded writes a scaled column out in raw ones.
func (d *designer) expanded(j int, c *rawColumn, forms []affine, transform [][]*big.Rat) {
	over := big.NewRat(1, 1)
	var centred []affine
	for _, f := range forms {
		over.Mul(over, f.half)
		if f.centre.Sign() != 0 {
			centred = append(centred, f)
		}
	}
	for mask := range 1 << len(centred) {
		coefficient := new(big.Rat).Inv(over)
		var without []int
		for i, f := range centred {
			if mask>>i&1 == 1 {
				coefficient.Mul(coefficient, new(big.Rat).Neg(f.centre))
				without = append(without, f.variable)
			}
		}
		k := d.places[c.key(without...)]
		transform[k][j].Add(transform[k][j], coefficient)
	}
}

func largestRat(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// Question is the SELECT list of the scaled predictors and whatever follows them, of the table's rows where a condition holds ("" for all).
func (d *Design) Question(where string, more ...string) string {
	var items []string
	for _, c := range d.Columns {
		items = append(items, c.SQL)
	}
	return "SELECT " + strings.Join(append(items, more...), ", ") + " FROM " + curator.SQLName(d.Table) + whereClause(where)
}

// Raw gives the coefficients of the columns as they are from those of the scaled ones.
func (d *Design) Raw(scaled []float64) []float64 {
	out := make([]float64, len(d.Columns))
	for k, row := range d.from {
		for j, x := range row {
			if j < len(scaled) && x != 0 {
				out[k] += x * scaled[j]
			}
		}
	}
	return out
}

// Bound is a decimal that no row's scaled predictors exceed in the norm, curator.L1 or curator.L2.
func (d *Design) Bound(norm string) string {
	most := d.MostOfL1
	if norm == curator.L2 {
		most = d.MostOfL2
	}
	return exact.FormatRat(exact.CeilDigits(new(big.Rat).Mul(most, big.NewRat(1000001, 1000000)), 9))
}

// Scaled is the response brought to between −1 and 1: its SQL, and that y = Centre + Half·scaled. It is centred where centre says so.
func (r Response) Scaled(centre bool) (sql string, at, half float64) {
	c, h := new(big.Rat), largestRat(new(big.Rat).Abs(r.Low), new(big.Rat).Abs(r.High))
	if centre {
		c = new(big.Rat).Mul(new(big.Rat).Add(r.Low, r.High), big.NewRat(1, 2))
		h = new(big.Rat).Mul(new(big.Rat).Sub(r.High, r.Low), big.NewRat(1, 2))
	}
	at, _ = c.Float64()
	half, _ = h.Float64()
	return affineSQL(r.SQL, c, h), at, half
}
