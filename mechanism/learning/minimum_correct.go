package learning

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"runtime"

	"dither/mechanism"
)

// CorrectSensitivity returns the most that one unit changes the result of Correct, for any θ. Each of the unit's m
// rows counts as 0 or 1. Under change-one they replace m other rows.
func (m *Minimiser) CorrectSensitivity() *big.Int { return big.NewInt(m.unit.MaxRows) }

// Correct counts the rows whose response a logistic model with a released θ predicts correctly. A prediction is
// correct if θ·x > 0 exactly when the response is above 1/2. Both sides are pure functions of the row and θ.
func (m *Minimiser) Correct(ctx context.Context, rows *mechanism.Rows, theta []float64) (mechanism.Exact, error) {
	if len(theta) != m.d || math.IsNaN(norm(theta)) || math.IsInf(norm(theta), 0) || m.objective.Loss != LogisticLoss {
		return mechanism.Exact{},
			fmt.Errorf("%w: the loss must be logistic, and θ must be a vector of %d numbers",
				mechanism.ErrParameter, m.d)
	}
	in, err := m.fits(rows)
	if err != nil {
		return mechanism.Exact{}, err
	}
	workers := runtime.GOMAXPROCS(0)
	counts, integers, x := make([]int64, workers), make([][]int64, workers), make([][]float64, workers)
	for i := range workers {
		integers[i], x[i] = make([]int64, m.d), make([]float64, m.d)
	}
	unit := math.Ldexp(1, m.rowGrid)
	err = in.Each(ctx, workers, func(w int, records []byte) {
		for ; len(records) > 0; records = records[in.Record():] {
			y := in.Decode(records, integers[w], x[w], unit)
			if (dot(theta, x[w]) > 0) == (y > 0.5) {
				counts[w]++
			}
		}
	})
	if err != nil {
		return mechanism.Exact{}, err
	}
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	return mechanism.NewExact(big.NewInt(total)), nil
}
