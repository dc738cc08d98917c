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

// Design is the model matrix of a formula over a table. Each predictor is an SQL expression of a row. The formula
// and the policy determine the whole design.
//
// A number is scaled to between −1 and 1 by its declared bounds, so that noise affects all predictors alike. It is
// also centred if the model contains every column that centring adds. A category has one indicator for each
// declared value except the first. The first value has an indicator too if the model lacks the same term without
// the category. A row in which a column is NULL has NULL coordinates and does not count.
type Design struct {
	Formula  Formula
	Table    string
	Response Response
	Columns  []Column // starts with the intercept, if the model has one
	// MostOfL1 and MostOfL2 bound the L₁ and the L₂ norm of a row's scaled predictors, up to the rounding of
	// doubles. They use the fact that at most one indicator of a term is 1 in a row. Box reports whether the bounds
	// of the single columns imply the same norms without this fact.
	MostOfL1, MostOfL2 *big.Rat
	Box                bool
	ManyRows           bool        // a person may have several rows, so rows are not independent
	Weights            [][]float64 // raw coefficient k = Σ_j Weights[k][j] · scaled coefficient j
	Terms              []Term      // terms that have columns, without the intercept
	TermOf             []int       // index in Terms for each column; −1 for the intercept
}

// Response is the response variable of a model. Its value lies between Low and High.
type Response struct {
	Name      string // includes the value whose probability is modelled, if any
	Column    string
	SQL       string // a boolean is 1 or 0; a category is the number of its class, starting at 0
	Low, High *big.Rat
	Levels    []string // values of the classes of a category, in words
	Real      bool     // the value may be any real number between Low and High
	Partial   bool     // SQL is NULL for rows whose value is in no class
}

// Column is one predictor of a design.
type Column struct {
	Name string
	SQL  string   // the scaled predictor
	Most *big.Rat // an upper bound on the absolute value of SQL in every row
	// Width is the upper minus the lower bound of the unscaled column. For a product of columns, it is the product
	// of their widths.
	Width float64
}

// InterceptName is the name of the intercept in results.
const InterceptName = "(Intercept)"

// maxPredictors is the largest number of predictors in a design, including the intercept.
const maxPredictors = 99

// Design returns the model matrix over a table of the policy. Errors are *curator.Error, with CodeUsage.
func (f Formula) Design(t curator.Table) (*Design, error) { return f.DesignWith(t, Options{}) }

// Options override parts of the policy's declarations of the columns.
type Options struct {
	Found   []Bounds // narrower bounds for some columns, to which values are clamped
	Classes Classes  // classes of the response
	Several bool     // permits a response with more than two classes
}

// DesignWith returns the model matrix as [Formula.Design] does, with options.
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
			if !slices.Contains(variables, v) { // skips duplicates, such as factor(g) and g where g is a category
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
		return nil, request.Misuse(severalClasses, "the response %s has %d classes, but this model supports two",
			out.Response.Name, n)
	}
	return out, nil
}

// Names returns the names of the design's columns.
func (d *Design) Names() (names []string) {
	for _, c := range d.Columns {
		names = append(names, c.Name)
	}
	return names
}

// Question returns a SELECT statement of the scaled predictors, followed by the items of the list `more`. It
// selects the rows that meet the SQL condition `where`, or all rows if that is "".
func (d *Design) Question(where string, more ...string) string {
	var items []string
	for _, c := range d.Columns {
		items = append(items, c.SQL)
	}
	return "SELECT " + strings.Join(append(items, more...), ", ") + " FROM " + curator.SQLName(d.Table) +
		request.Where(where)
}

// Raw converts coefficients of the scaled predictors to coefficients of the unscaled columns.
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

// Bound returns a decimal upper bound on the norm of every row's scaled predictors. norm is curator.L1 or
// curator.L2.
func (d *Design) Bound(norm string) string {
	most := d.MostOfL1
	if norm == curator.L2 {
		most = d.MostOfL2
	}
	return exact.FormatRat(exact.CeilDigits(new(big.Rat).Mul(most, big.NewRat(1000001, 1000000)), 9))
}

// Scaled returns the SQL expression of the response scaled to between −1 and 1, where response = at + half·scaled.
// If centre is false, the result `at` is 0.
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
