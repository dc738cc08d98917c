package release

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/privacy"
)

// Regression is a target with predictors and a response, planned: all its items but the last are predictors.
type Regression struct {
	*plan.Target
	bound *big.Rat // of the predictors' L2 norm
}

// Regression is a target with a bound of its predictors' L2 norm. It refuses, before anything is charged, one of which
// no rows could be held.
func (k *Kernel) Regression(t *plan.Target, bound *big.Rat) (*Regression, error) {
	r := &Regression{t, bound}
	if _, err := r.emptyRows(filepath.Join(k.home, "tmp")); err != nil {
		return nil, &ParameterError{Err: err}
	}
	return r, nil
}

// copied is a regression that its caller cannot change.
func (r *Regression) copied() *Regression {
	out := *r
	return &out
}

// Bound is the bound on the L2 norm of the predictors.
func (r *Regression) Bound() *big.Rat { return new(big.Rat).Set(r.bound) }

// Predictors is the number of items beside the response.
func (r *Regression) Predictors() int { return len(r.Measures) - 1 }

// Response is the last item.
func (r *Regression) Response() *bounded.Measure { return r.Measures[len(r.Measures)-1] }

// canonical writes what a release depends on beside the first measure, which Key writes.
func (r *Regression) canonical(mechanism string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nnorm %s\n", mechanism, exact.FormatRat(r.bound))
	for _, m := range r.Measures[1:] {
		fmt.Fprintf(&b, "coordinate %s\n", m)
	}
	return b.String()
}

// regressionLook is a look at a regression.
func (k *Kernel) regressionLook(
	r *Regression,
	by Asker,
	price privacy.Loss,
	mechanism string,
	of []ledger.Mechanism,
	rows, columns int,
) (*Look, error) {
	l, versions, err := k.lookAt(&r.Statement, by)
	if err != nil {
		return nil, err
	}
	l.price, l.mechanisms, l.key = price, of, r.Key(versions, r.canonical(mechanism))
	l.releases(rows, columns)
	return l, nil
}

// emptyRows has room for the regression's rows.
func (r *Regression) emptyRows(dir string) (*mechanism.Rows, error) {
	shape := mechanism.RowShape{Bound: r.bound, Most: 1, Dir: dir}
	if r.Unit != nil {
		shape.Most = r.Caps.Rows
	}
	for _, m := range r.Measures {
		shape.Grids = append(shape.Grids, m.Grid)
	}
	return mechanism.NewRows(shape)
}

// vectors reads a regression's rows, once. The caller closes them.
func (from reader) vectors(ctx context.Context, r *Regression) (*mechanism.Rows, error) {
	if err := os.MkdirAll(from.dir, 0o700); err != nil {
		return nil, err
	}
	rows, err := r.emptyRows(from.dir)
	if err != nil {
		return nil, err
	}
	if err := from.engine.Rows(ctx, &r.Statement, from.sealed, rows); err != nil {
		_ = rows.Close() // it is of no use
		return nil, err
	}
	return rows, nil
}
