package account

import (
	"fmt"

	"dither/privacy"
)

// LeastEpsilon returns the least figure of Epsilon, to within one part in a hundred, and the name of an accountant
// that has it. If the loss distributions give bounds of ε that are this close, LeastEpsilon uses them alone. The
// other accountants are slower, and never below these bounds. If d is not below 1, it returns ErrParameter.
func (j *Job) LeastEpsilon(d privacy.Delta) (f Figure, accountant string, err error) {
	if d.Rat().Cmp(one) >= 0 {
		return none("no accountant has a bound"), "", fmt.Errorf("%w: a δ of 1 gives no protection", ErrParameter)
	}
	if b := j.tally.pldEpsilon(d); b.Told() && b.Lower >= 0.99*b.Value {
		return b.Figure, "pld", nil
	}
	r, err := j.Epsilon(d)
	if err != nil {
		return none("no accountant has a bound"), "", err
	}
	f, accountant = r.Least()
	return f, accountant, nil
}
