package curator

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/privacy"
)

// What the primitives have in common that pass over rows as vectors: SELECT x1, x2, …, y FROM t WHERE …. All items but the last are
// predictors (a constant 1 makes an intercept), and the last is the response.

// regression is such a question, planned.
type regression struct {
	*plan.Target
	bound *big.Rat // of the predictors' L2 norm
}

// regress plans one. bound is that of the predictors' norm, as a decimal; "" is what their own ranges give.
func (c *Curator) regress(q Question, bound string) (*regression, error) {
	return c.regressAt(q, bound, privacy.Loss{})
}

// regressAt is regress at a price that is not the question's own; the zero loss is none.
func (c *Curator) regressAt(q Question, bound string, price privacy.Loss) (*regression, error) {
	if q.Within != "" || q.At != "" {
		return nil, &Error{Code: CodeUsage, Message: "an accuracy is for tables of noisy numbers", Hint: "give a price, and the confidence by its name"}
	}
	request, err := c.request(q)
	if err != nil {
		return nil, err
	}
	if !price.IsZero() {
		request.Price = price
	}
	t, err := plan.BuildRows(c.filled(), request)
	if err != nil {
		return nil, err
	}
	if len(t.Measures) < 2 {
		return nil, &Error{Code: CodeUsage, Message: "there are predictors, and then a response", Hint: "as in: SELECT age, 1, ill FROM people"}
	}
	r := &regression{Target: t}
	if bound != "" {
		if r.bound, err = positive("the bound of the predictors' norm", bound); err != nil {
			return nil, err
		}
		return r, c.fits(r)
	}
	squares := new(big.Rat)
	for _, m := range t.Measures[:r.predictors()] {
		squares.Add(squares, new(big.Rat).Mul(m.Reach(), m.Reach()))
	}
	if squares.Sign() == 0 {
		return nil, &Error{Code: CodePolicy, Message: "all predictors are 0 by their bounds", Hint: "select one that varies, or a constant 1"}
	}
	root := math.Nextafter(math.Sqrt(exact.FloatUp(squares)), math.Inf(1))
	if math.IsInf(root, 0) {
		return nil, &Error{Code: CodePolicy, Message: "the predictors' bounds are too wide for a norm", Hint: "give a bound of the norm"}
	}
	r.bound = new(big.Rat).SetFloat64(root)
	return r, c.fits(r)
}

// fits refuses, before anything is charged, what no rows could be held of.
func (c *Curator) fits(r *regression) error {
	if _, err := c.emptyRows(r); err != nil {
		return &Error{Code: CodePolicy, Message: err.Error(), cause: err}
	}
	return nil
}

func (r *regression) predictors() int { return len(r.Measures) - 1 }

// response is the last item.
func (r *regression) response() *bounded.Measure { return r.Measures[len(r.Measures)-1] }

// canonical writes what a release depends on beside the first measure, which Key writes.
func (r *regression) canonical(mechanism string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nnorm %s\n", mechanism, exact.FormatRat(r.bound))
	for _, m := range r.Measures[1:] {
		fmt.Fprintf(&b, "coordinate %s\n", m)
	}
	return b.String()
}

// decided is the look of a regression.
func (c *Curator) decided(r *regression, q Question, price privacy.Loss, mechanism string, of []ledger.Mechanism, shape [2]int) (*look, error) {
	tables, versions, err := c.sealed(&r.Statement)
	if err != nil {
		return nil, err
	}
	return &look{
		question: q.SQL, bounded: &r.Statement, price: price, tables: tables, key: r.Key(versions, r.canonical(mechanism)),
		mechanisms: of, fresh: q.Fresh, analyst: q.Analyst, shape: shape,
	}, nil
}

// emptyRows has room for the regression's rows.
func (c *Curator) emptyRows(r *regression) (*mechanism.Rows, error) {
	shape := mechanism.RowShape{Bound: r.bound, Most: 1, Dir: filepath.Join(c.home, "tmp")}
	if r.Unit != nil {
		shape.Most = r.Caps.Rows
	}
	for _, m := range r.Measures {
		shape.Grids = append(shape.Grids, m.Grid)
	}
	return mechanism.NewRows(shape)
}

// stream reads a regression's rows, once. The caller closes them.
func (c *Curator) stream(ctx context.Context, r *regression, from engine.Sealed) (*mechanism.Rows, error) {
	if err := os.MkdirAll(filepath.Join(c.home, "tmp"), 0o700); err != nil {
		return nil, err
	}
	rows, err := c.emptyRows(r)
	if err != nil {
		return nil, err
	}
	if err := c.engine.Rows(ctx, &r.Statement, from, rows); err != nil {
		_ = rows.Close() // it is of no use
		return nil, err
	}
	return rows, nil
}

// positive reads a decimal above 0.
func positive(what, text string) (*big.Rat, error) {
	r, err := exact.ParseDecimal(text)
	if err != nil || r.Sign() <= 0 {
		return nil, &Error{Code: CodeUsage, Message: fmt.Sprintf("%s is a decimal above 0, not %q", what, text)}
	}
	return r, nil
}

// shareOf reads a part of a price: a decimal above 0 and below 1, so many of so many.
func shareOf(what, text string) (of, parts int64, err error) {
	r, err := exact.ParseDecimal(text)
	if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 || !r.Denom().IsInt64() || r.Denom().Int64() > 1<<30 {
		return 0, 0, &Error{Code: CodeUsage, Message: fmt.Sprintf("%s is a decimal above 0 and below 1, not %q", what, text)}
	}
	return r.Num().Int64(), r.Denom().Int64(), nil
}

// aboutRows is about how many rows there are: as is said, or where that is 0 as the policy declares.
func (c *Curator) aboutRows(r *regression, said int64) (int64, error) {
	if said == 0 && r.Source == nil {
		said = c.policy.Table(r.Table).ExpectedRows
	}
	if said == 0 {
		return 0, &Error{Code: CodeUsage, Message: "about how many rows there are must be said", Hint: "give Rows: a number that is known, or that was released; or declare expected_rows"}
	}
	return said, nil
}
