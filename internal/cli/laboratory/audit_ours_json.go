package laboratory

import (
	"encoding/json"

	"dither/audit"
	"dither/audit/ours"
	"dither/internal/cli/render"
)

// oursList is the JSON form of the list of mechanisms.
type oursList []json.Marshaler

// MarshalJSON writes the list as {"mechanisms": [...]}.
func (l oursList) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string][]json.Marshaler{"mechanisms": l})
}

// oursReport is the JSON form of the results about one mechanism.
type oursReport struct {
	subject ours.Subject
	claim   audit.Claim
	law     oursLaw
	report  *audit.Report // nil in a list
}

// MarshalJSON writes the exact results and those of the runs.
func (r oursReport) MarshalJSON() ([]byte, error) {
	type claim struct {
		Epsilon json.Number `json:"epsilon"`
		Delta   json.Number `json:"delta"`
	}
	claimed := func(c audit.Claim) claim {
		return claim{json.Number(render.JSONRat(c.Epsilon.Rat())), json.Number(render.JSONRat(c.Delta.Rat()))}
	}
	type exact struct {
		Inputs       int      `json:"inputs"`
		Pairs        int      `json:"pairs"`
		Epsilon      *float64 `json:"epsilon"`
		EpsilonLower *float64 `json:"epsilon_lower"`
		EpsilonExact *string  `json:"epsilon_exact"`
		Delta        *float64 `json:"delta"`
		DeltaLower   *float64 `json:"delta_lower"`
		Ideal        bool     `json:"ideal"`
		Holds        bool     `json:"holds"`
		Attained     bool     `json:"attained"`
	}
	out := struct {
		Name     string       `json:"name"`
		About    string       `json:"about"`
		Source   string       `json:"source"`
		Data     string       `json:"data"`
		Neighbor string       `json:"neighbor"`
		Declared claim        `json:"declared"`
		Claim    claim        `json:"claim"`
		Exact    *exact       `json:"exact"`
		Audit    *auditReport `json:"audit,omitempty"`
	}{
		Name: r.subject.Name, About: r.subject.About, Source: r.subject.Source, Data: r.subject.Sides[0],
		Neighbor: r.subject.Sides[1],
		Declared: claimed(r.subject.Claim), Claim: claimed(r.claim),
	}
	if x := r.law.exact; x != nil {
		out.Exact = &exact{
			Inputs: r.law.inputs, Pairs: r.law.pairs, Ideal: r.law.ideal, Holds: x.Holds,
			Attained: x.Attained,
		}
		if l := x.Loss; l != nil && l.Private() {
			out.Exact.Epsilon, out.Exact.EpsilonLower = &l.Upper, &l.Lower
			if l.Exact != "" {
				out.Exact.EpsilonExact = &l.Exact
			}
		}
		if x.Loss == nil || !r.claim.Delta.IsZero() {
			out.Exact.Delta, out.Exact.DeltaLower = &x.DeltaUpper, &x.DeltaLower
		}
	}
	if r.report != nil {
		out.Audit = &auditReport{r.report}
	}
	return json.Marshal(out)
}
