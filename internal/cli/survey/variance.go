package survey

import (
	"encoding/json"
	"math"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// variance states the variance of an estimated frequency.
func variance(s *console.Console, o *options) error {
	if o.ofNumbers() {
		return varianceNumbers(s, o)
	}
	k, err := o.valuesOf()
	if err != nil {
		return err
	}
	n, err := peopleOf(o.n)
	if err != nil {
		return err
	}
	f, err := console.NumberFlag("frequency", o.frequency)
	if err != nil {
		return err
	}
	share, _ := f.Float64()
	if share < 0 || share > 1 {
		return console.Usage("--frequency must be from 0 to 1")
	}
	oracle, err := o.oracleOf(s, o.mechanism, k, n)
	if err != nil {
		return err
	}
	v := oracle.Variance(n, share)
	if s.Format == "json" {
		return s.JSON(varianceJSON{number(v), oracle.Bits()})
	}
	s.Print("The estimated frequency has the variance %s (standard deviation %s).\nA report has %s.\n",
		render.Number6(v), render.Number6(math.Sqrt(v)), render.Plural(oracle.Bits(), "bit"))
	if oracle.SharedVariance() > 0 {
		s.Print("Of the variance, at most %s is due to shared hash functions, and does not fall with n.\n",
			render.Number6(oracle.SharedVariance()*(1-share)*(1-share)))
	}
	if states, lifetime, err := oracle.States(); err == nil {
		s.Print("A device with a memory has at most %s: all its reports together have at most ε = %s.\n",
			render.Plural(int(states), "state"), render.Given(lifetime.Rat()))
	}
	return nil
}

type varianceJSON struct {
	Variance json.RawMessage `json:"variance"`
	Bits     int             `json:"bits"`
}
