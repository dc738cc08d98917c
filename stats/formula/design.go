package formula

import (
	"math/big"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/internal/request"
	"dither/stats/internal/scale"
)

// Design is a formula's model matrix over a table: each predictor is an SQL expression of a row. The formula and the
// policy determine all of it.
//
// A number is scaled by its declared bounds to between −1 and 1, so that noise affects all predictors alike. It is
// centred if the model has the columns that centring adds. A category has an indicator for each declared value but the
// first, and for the first too if the model lacks the term without the category. A row in which a column is NULL has
// NULL coordinates, and does not count.
type Design struct {
	Formula  Formula
	Table    string
	Response Response
	Columns  []Column // the intercept first, if the model has one
	// MostOfL1 and MostOfL2 bound the norms of a row's scaled predictors, up to the rounding of doubles: at most one
	// indicator of a term is 1. Box reports that the ranges of the columns imply the same bounds.
	MostOfL1, MostOfL2 *big.Rat
	Box                bool
	ManyRows           bool        // a person may have several rows, so that rows are not independent
	Weights            [][]float64 // Weights[k][j] is the share of scaled coefficient j in raw coefficient k
	Terms              []Term      // the terms that have columns, without the intercept
	TermOf             []int       // the term of each column; -1 for the intercept
}

// Response is the response variable of a model. It lies between Low and High.
type Response struct {
	Name      string // with the value whose probability is modelled, if any
	Column    string
	SQL       string // a boolean is 1 or 0; a category is the number of its class, from 0
	Low, High *big.Rat
	Levels    []string // the classes of a category, in words
	Real      bool     // it may be any number between Low and High
	Partial   bool     // it is NULL in rows whose value is none of the classes
}

// Column is one predictor.
type Column struct {
	Name string
	SQL  string   // the scaled predictor
	Most *big.Rat // bounds the absolute value in every row
	// Width is that of the unscaled column: its upper less its lower bound. For a product of columns it is the product
	// of their widths.
	Width float64
}

// InterceptName names the intercept.
const InterceptName = "(Intercept)"

// maxPredictors bounds a design.
const maxPredictors = 99

// Design builds the model matrix over a table of the policy. Errors are *curator.Error, with CodeUsage.
func (f Formula) Design(t curator.Table) (*Design, error) { return f.DesignWith(t, Options{}) }

// Options change what the policy declares about the columns.
type Options struct {
	Found   []Bounds // narrower bounds of some columns: values beyond them are clamped
	Classes Classes  // of the response
	Several bool     // the response may have more than two classes
}

// DesignWith is Design with options.
func (f Formula) DesignWith(t curator.Table, o Options) (*Design, error) {
	d := &designer{table: t, formula: f, places: map[string]int{}, options: o}
	out := &Design{Formula: f, Table: t.Name, ManyRows: t.ManyRows}
	var err error
	if out.Response, err = d.response(); err != nil {
		return nil, err
	}
	if f.Intercept {
		d.terms = append(d.terms, nil)
	}
	for _, term := range f.Terms {
		var variables []int
		for _, x := range term {
			v, err := d.variable(x)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(variables, v) { // factor(g) and g, where g is a category anyway
				variables = append(variables, v)
			}
		}
		if !slices.ContainsFunc(d.terms, func(other []int) bool { return sameSet(other, variables) }) {
			d.terms, out.Terms = append(d.terms, variables), append(out.Terms, term)
		}
	}
	for i := range d.terms {
		if err := d.expand(i); err != nil {
			return nil, err
		}
	}
	if len(d.columns) == 0 {
		return nil, request.Misuse("", "the model has neither an intercept nor a predictor")
	}
	d.scale(out)
	for _, c := range d.columns {
		out.TermOf = append(out.TermOf, c.term-(len(d.terms)-len(out.Terms)))
	}
	if n := len(out.Response.Levels); n > 2 && !o.Several {
		return nil, request.Misuse(severalClasses, "the response %s has %d classes, and this model has two",
			out.Response.Name, n)
	}
	return out, nil
}

// Names are the names of the columns.
func (d *Design) Names() (names []string) {
	for _, c := range d.Columns {
		names = append(names, c.Name)
	}
	return names
}

// Question selects the scaled predictors, followed by the items of more, from the rows that meet a condition; ""
// selects all rows.
func (d *Design) Question(where string, more ...string) string {
	var items []string
	for _, c := range d.Columns {
		items = append(items, c.SQL)
	}
	return "SELECT " + strings.Join(append(items, more...), ", ") + " FROM " + curator.SQLName(d.Table) +
		request.Where(where)
}

// Raw converts coefficients of the scaled predictors to those of the unscaled columns.
func (d *Design) Raw(scaled []float64) []float64 {
	out := make([]float64, len(d.Columns))
	for k, row := range d.Weights {
		for j, x := range row {
			if j < len(scaled) && x != 0 {
				out[k] += x * scaled[j]
			}
		}
	}
	return out
}

// Bound is a decimal that bounds the norm of every row's scaled predictors. The norm is curator.L1 or curator.L2.
func (d *Design) Bound(norm string) string {
	most := d.MostOfL1
	if norm == curator.L2 {
		most = d.MostOfL2
	}
	return exact.FormatRat(exact.CeilDigits(new(big.Rat).Mul(most, big.NewRat(1000001, 1000000)), 9))
}

// Scaled is the SQL of the response scaled to between −1 and 1, with y = at + half·scaled. Without centre, at is 0.
func (r Response) Scaled(centre bool) (sql string, at, half float64) {
	c, h := new(big.Rat), largestRat(new(big.Rat).Abs(r.Low), new(big.Rat).Abs(r.High))
	if centre {
		c = new(big.Rat).Mul(new(big.Rat).Add(r.Low, r.High), big.NewRat(1, 2))
		h = new(big.Rat).Mul(new(big.Rat).Sub(r.High, r.Low), big.NewRat(1, 2))
	}
	at, _ = c.Float64()
	half, _ = h.Float64()
	return scale.Affine(r.SQL, c, h), at, half
}
