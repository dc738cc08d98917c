package formula

import (
	"math/big"
	"strings"

	"dither/stats/internal/scale"
)

// affine is the form (x − centre)/half of a numeric variable x in a scaled column.
type affine struct {
	variable     int
	centre, half *big.Rat
}

// scale adds the scaled columns to a design, and the matrix that converts their coefficients to those of the raw
// columns.
//
// Let N be the numbers of column j, C ⊆ N the centred ones, and c and h the centre and half-width of a number x.
// Scaled column j is z_j = Π_{x∈C}(x − c)/h · Π_{x∈N∖C} x/h · Π indicators. Its expansion is a sum over the subsets
// S of C. The summand of S is the raw column with the numbers N∖S and the same indicators, times Π_{x∈S}(−c) / Πh.
// Hence Σ_j γ_j z_j = Σ_k β_k raw_k with β_k = Σ_j γ_j·(coefficient of raw_k in z_j). A number is centred only if
// the model contains all of these raw columns.
func (d *designer) scale(out *Design) {
	n := len(d.columns)
	transform := make([][]*big.Rat, n)
	for k := range transform {
		transform[k] = make([]*big.Rat, n)
		for j := range transform[k] {
			transform[k][j] = new(big.Rat)
		}
	}
	most := make([]*big.Rat, len(d.terms)) // bound of each term, since at most one of its columns is nonzero in a row
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
	out.MostOfL1, out.MostOfL2, out.Box = l1, scale.RootAbove(l2), l1.Cmp(boxL1) == 0
	out.Weights = make([][]float64, n)
	for k, row := range transform {
		out.Weights[k] = make([]float64, n)
		for j, x := range row {
			out.Weights[k][j], _ = x.Float64()
		}
	}
}

// scaled returns the scaled column of a raw column. It also returns, for each numeric variable that is a factor of the
// column, the centre and the half-width by which the variable is scaled.
func (d *designer) scaled(c *rawColumn) (Column, []affine) {
	column := Column{Name: d.name(c), Most: big.NewRat(1, 1), Width: 1}
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
		factors, forms = append(factors, scale.Affine(x.sql, form.centre, form.half)), append(forms, form)
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

// closed reports whether the model contains every column that centring variable v adds to c, if the variables of
// the list `centred` are centred too.
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

// expanded adds the coefficients of scaled column j to the transform, whose rows are raw columns and whose columns
// are scaled columns.
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
