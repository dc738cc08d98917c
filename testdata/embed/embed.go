// Package embed shows how a Go program asks a curator.
package embed

import (
	"context"
	"dither/curator"
	"errors"
	"fmt"
)

// Visits asks the curator of a home for the average number of visits and returns the answer in words. If the budget
// is spent, it returns the advice of the curator's error.
func Visits(ctx context.Context, home string) (string, error) {
	c, err := curator.Open(home)
	if err != nil {
		return "", err
	}
	defer c.Close()

	r, err := c.Answer(ctx, curator.Question{SQL: "SELECT AVG(mdvis) AS visits FROM visits", Epsilon: "0.2"})
	var e *curator.Error
	switch {
	case errors.As(err, &e) && e.Code == curator.CodeExhausted:
		return "the budget is spent: " + e.Hint, nil
	case err != nil:
		return "", err
	}
	visits := r.Rows[0][0].Estimate
	// too few rows for the noise, so the average has no value
	if visits.Value == nil || visits.Low == nil || visits.High == nil {
		return "no average: so few rows that the noise hides them", nil
	}
	return fmt.Sprintf(
		"%.2f visits a year, between %.2f and %.2f",
		visits.Value.Real,
		visits.Low.Real,
		visits.High.Real,
	), nil
}
