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

// Regression is a plan of rows with predictors and a response: the last item is the response, and all others are
// predictors.
type Regression struct {
	*plan.Target
	bound *big.Rat // the bound on the predictors' L2 norm
}

// Regression returns a target with a bound on its predictors' L2 norm. It returns an error if the target's rows
// cannot be represented.
func (k *Kernel) Regression(t *plan.Target, bound *big.Rat) (*Regression, error) {
	r := &Regression{t, bound}
	if _, err := r.emptyRows(filepath.Join(k.home, "tmp")); err != nil {
		return nil, &ParameterError{Err: err}
	}
	return r, nil
}

// copied returns a copy that the caller cannot change.
func (r *Regression) copied() *Regression {
	out := *r
	return &out
}

// Bound returns a copy of the bound on the L2 norm of the predictors.
func (r *Regression) Bound() *big.Rat { return new(big.Rat).Set(r.bound) }

// Predictors returns the number of predictors.
func (r *Regression) Predictors() int { return len(r.Measures) - 1 }

// Response returns the response, which is the last item.
func (r *Regression) Response() *bounded.Measure { return r.Measures[len(r.Measures)-1] }

// canonical returns text for the replay key: the mechanism, the norm, and all measures but the first. Key itself
// writes the first.
func (r *Regression) canonical(mechanism string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nnorm %s\n", mechanism, exact.FormatRat(r.bound))
	for _, m := range r.Measures[1:] {
		fmt.Fprintf(&b, "coordinate %s\n", m)
	}
	return b.String()
}

// regressionLook returns the [Look] of an access to the rows of a regression.
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

// emptyRows returns an empty container for the regression's rows.
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

// vectors reads a regression's rows. The caller must close the result.
func (from reader) vectors(ctx context.Context, r *Regression) (*mechanism.Rows, error) {
	if err := os.MkdirAll(from.dir, 0o700); err != nil {
		return nil, err
	}
	rows, err := r.emptyRows(from.dir)
	if err != nil {
		return nil, err
	}
	if err := from.engine.Rows(ctx, &r.Statement, from.sealed, rows); err != nil {
		_ = rows.Close() // incomplete rows are discarded
		return nil, err
	}
	return rows, nil
}
