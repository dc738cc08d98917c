package account

import (
	"fmt"

	"dither/privacy"
)

// LeastEpsilon is the least of the figures of Epsilon, to within a hundredth of it, and the name of an accountant that
// has it. If the loss distributions bracket ε that closely, it uses them alone, because the others are slower and
// never below the bracket. d must be below 1, otherwise the error is ErrParameter.
func (j *Job) LeastEpsilon(d privacy.Delta) (f Figure, accountant string, err error) {
	if d.Rat().Cmp(one) >= 0 {
		return none("no accountant tells it"), "", fmt.Errorf("%w: a δ of 1 promises nothing", ErrParameter)
	}
	if b := j.tally.pldEpsilon(d); b.Told() && b.Lower >= 0.99*b.Value {
		return b.Figure, "pld", nil
	}
	r, err := j.Epsilon(d)
	if err != nil {
		return none("no accountant tells it"), "", err
	}
	f, accountant = r.Least()
	return f, accountant, nil
}
