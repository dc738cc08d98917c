package aim

import (
	"cmp"
	"fmt"
	"slices"

	"dither/synth/model"
)

// The limits of a workload.
const (
	MaxWays   = 10      // attributes of a marginal
	MaxWeight = 1 << 40 // of a candidate
)

// Marginal is a set of attributes whose counts the rows should have, with its importance.
type Marginal struct {
	Attributes []int // ascending
	Weight     int64 // above 0
}

// Workload has the candidates of a list of marginals.
type Workload struct {
	domain     *model.Domain
	candidates []Marginal
}

// NewWorkload returns the candidates of a list of marginals: each nonempty subset r of one of them. The weight of r is
// the sum, over the marginals s, of the weight of s times the number of attributes that r and s share.
//
// It returns an error if a marginal does not fit the domain or has no attribute or more than [MaxWays], if a weight is
// not positive, or if a candidate's weight is above [MaxWeight].
func NewWorkload(d *model.Domain, marginals []Marginal) (*Workload, error) {
	if len(marginals) == 0 {
		return nil, fmt.Errorf("aim: a workload needs at least one marginal")
	}
	w := &Workload{domain: d}
	attributes := len(d.Sizes())
	known := map[string]bool{}
	for _, s := range marginals {
		if n := len(s.Attributes); n == 0 || n > MaxWays {
			return nil, fmt.Errorf("aim: a marginal has 1 to %d attributes, not %d", MaxWays, n)
		}
		for i, a := range s.Attributes {
			if a < 0 || a >= attributes || i > 0 && a <= s.Attributes[i-1] {
				return nil, fmt.Errorf(
					"aim: the attributes %v of a marginal must be ascending, from 0 to %d", s.Attributes, attributes-1,
				)
			}
		}
		if s.Weight <= 0 || s.Weight > MaxWeight {
			return nil, fmt.Errorf(
				"aim: the marginal of %v has weight %d: use 1 to %d", s.Attributes, s.Weight, MaxWeight,
			)
		}
		for mask := 1; mask < 1<<len(s.Attributes); mask++ {
			var r []int
			for i, a := range s.Attributes {
				if mask>>i&1 == 1 {
					r = append(r, a)
				}
			}
			if key := fmt.Sprint(r); !known[key] {
				known[key] = true
				w.candidates = append(w.candidates, Marginal{Attributes: r})
			}
		}
	}
	slices.SortFunc(w.candidates, func(a, b Marginal) int {
		if c := cmp.Compare(len(a.Attributes), len(b.Attributes)); c != 0 {
			return c
		}
		return slices.Compare(a.Attributes, b.Attributes)
	})
	in := make([]bool, attributes)
	for _, s := range marginals {
		for _, a := range s.Attributes {
			in[a] = true
		}
		for i := range w.candidates {
			r := &w.candidates[i]
			for _, a := range r.Attributes {
				if in[a] {
					r.Weight += s.Weight
				}
			}
			if r.Weight > MaxWeight {
				return nil, fmt.Errorf(
					"aim: the marginal of %v has weight %d, above %d: use smaller weights", r.Attributes, r.Weight, MaxWeight,
				)
			}
		}
		clear(in)
	}
	return w, nil
}

// Candidates returns the marginals that may be measured, those of few attributes first.
func (w *Workload) Candidates() []Marginal { return slices.Clone(w.candidates) }

// Within returns the candidates with which a model of the measured sets has at most this number of bytes, as
// [model.Size] counts them. In a round, AIM allows the share of the model's limit that the round's end will have spent
// of the price: see [Round.Spent]. A candidate that a measured set contains is always within, because it changes no
// model.
func (w *Workload) Within(measured [][]int, most float64) ([]Marginal, error) {
	further := make([][]int, len(w.candidates))
	for i, r := range w.candidates {
		further[i] = r.Attributes
	}
	fits, err := model.Within(w.domain, measured, further, most)
	if err != nil {
		return nil, err
	}
	var out []Marginal
	for i, r := range w.candidates {
		inside := slices.ContainsFunc(measured, func(s []int) bool {
			return !slices.ContainsFunc(r.Attributes, func(a int) bool { return !slices.Contains(s, a) })
		})
		if inside || fits[i] {
			out = append(out, r)
		}
	}
	return out, nil
}
