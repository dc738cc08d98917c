package laboratory

import (
	"encoding/json"
	"math"
	"math/big"

	"dither/audit/channel"
	"dither/internal/cli/render"
)

// The JSON form of the results. Each figure that is not an entry of the matrix is an upper bound. It comes with a
// lower bound and, if it is short, the exact number.
type (
	channelJSON struct {
		Inputs       int          `json:"inputs"`
		Outputs      int          `json:"outputs"`
		Adjacent     *int         `json:"adjacent"`
		Epsilon      *float64     `json:"epsilon"`
		EpsilonLower *float64     `json:"epsilon_lower"`
		EpsilonExact *string      `json:"epsilon_exact"`
		Witness      *witnessJSON `json:"witness"`
		DeltaLimit   *boundsJSON  `json:"delta_limit,omitempty"`
		Delta        []excessJSON `json:"delta,omitempty"`
		AtDelta      *atDeltaJSON `json:"at_delta,omitempty"`
		Bayes        bayesJSON    `json:"bayes"`
	}
	witnessJSON struct {
		Input               string  `json:"input"`
		Neighbor            string  `json:"neighbor"`
		Output              string  `json:"output"`
		Probability         float64 `json:"probability"`
		ProbabilityExact    string  `json:"probability_exact"`
		NeighborProbability float64 `json:"neighbor_probability"`
		NeighborExact       string  `json:"neighbor_probability_exact"`
	}
	boundsJSON struct {
		Lower float64 `json:"lower"`
		Upper float64 `json:"upper"`
		Exact *string `json:"exact"`
	}
	pairJSON struct {
		Input    *string  `json:"input"`
		Neighbor *string  `json:"neighbor"`
		Outputs  []string `json:"outputs"`
	}
	excessJSON struct {
		Epsilon float64    `json:"epsilon"`
		Exactly string     `json:"epsilon_exact"`
		Delta   boundsJSON `json:"delta"`
		pairJSON
	}
	atDeltaJSON struct {
		Delta   float64     `json:"delta"`
		Epsilon *boundsJSON `json:"epsilon"`
		pairJSON
	}
	bayesJSON struct {
		Before         boundsJSON `json:"before"`
		After          boundsJSON `json:"after"`
		Multiplicative boundsJSON `json:"multiplicative"`
		Additive       boundsJSON `json:"additive"`
		Capacity       boundsJSON `json:"capacity"`
		Surest         struct {
			Input  string     `json:"input"`
			Output string     `json:"output"`
			Before boundsJSON `json:"before"`
			After  boundsJSON `json:"after"`
		} `json:"surest"`
	}
)

// MarshalJSON writes all results about the mechanism.
func (r judged) MarshalJSON() ([]byte, error) {
	l := r.loss
	out := channelJSON{Inputs: len(r.m.Inputs()), Outputs: len(r.m.Outputs())}
	if r.adjacency.Listed() {
		n := r.adjacency.Len()
		out.Adjacent = &n
	}
	if l.Private() {
		out.Epsilon, out.EpsilonLower, out.EpsilonExact = &l.Upper, &l.Lower, render.TextOrNull(l.Exact)
	} else {
		limit := boundsJSON{r.limit.Lower, r.limit.Upper, render.TextOrNull(r.limit.Exact)}
		out.DeltaLimit = &limit
	}
	if w := l.Witness; w.Output != "" {
		out.Witness = &witnessJSON{w.Input, w.Neighbor, w.Output, w.PValue, w.P, w.QValue, w.Q}
	}
	for i, x := range r.excess {
		_, upper, err := r.at[i].Floats()
		if err != nil {
			return nil, err
		}
		out.Delta = append(out.Delta, excessJSON{
			upper, r.at[i].String(),
			boundsJSON{x.Lower, x.Upper, render.TextOrNull(x.Exact)},
			r.pair(x.Input, x.Neighbor, x.Outputs),
		})
	}
	if r.delta != nil {
		out.AtDelta = &atDeltaJSON{
			Delta:    floatAbove(r.delta),
			pairJSON: r.pair(r.relaxed.Input, r.relaxed.Neighbor, r.relaxed.Outputs),
		}
		if r.relaxed.Private() {
			out.AtDelta.Epsilon = &boundsJSON{r.relaxed.Lower, r.relaxed.Upper, render.TextOrNull(r.relaxed.Exact)}
		}
	}
	k := r.leakage
	out.Bayes = bayesJSON{
		Before: boundsOf(k.Before), After: boundsOf(k.After), Multiplicative: boundsOf(k.Multiplicative),
		Additive: boundsOf(k.Additive), Capacity: boundsOf(k.Capacity),
	}
	out.Bayes.Surest.Input, out.Bayes.Surest.Output = k.Surest.Input, k.Surest.Output
	out.Bayes.Surest.Before, out.Bayes.Surest.After = boundsOf(k.Surest.Before), boundsOf(k.Surest.After)
	return json.Marshal(out)
}

// floatAbove returns the smallest float that is at least δ. A promise at δ also holds at this float.
func floatAbove(delta *big.Rat) float64 {
	x, _ := delta.Float64()
	if new(big.Rat).SetFloat64(x).Cmp(delta) < 0 {
		return math.Nextafter(x, 2)
	}
	return x
}

func boundsOf(b channel.Bounds) boundsJSON {
	return boundsJSON{b.Lower, b.Upper, render.TextOrNull(b.Exact)}
}

func (r judged) pair(input, neighbor string, outputs []int) pairJSON {
	p := pairJSON{Input: render.TextOrNull(input), Neighbor: render.TextOrNull(neighbor), Outputs: []string{}}
	names := r.m.Outputs()
	for _, y := range outputs {
		p.Outputs = append(p.Outputs, names[y])
	}
	return p
}
