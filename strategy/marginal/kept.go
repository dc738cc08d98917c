package marginal

import (
	"encoding/json"
	"fmt"
	"math"

	"dither/curator"
	"dither/strategy"
)

// keptShares is a choice as a home records it: the shares of the price, which floats computed.
type keptShares struct {
	Name   string    `json:"name"`
	Shares []float64 `json:"shares"`
	Whole  float64   `json:"whole,omitempty"`
}

// ChooseIn returns the choice of [Workload.Choose], with the shares of the price that the home recorded when the plan
// was first measured. So a computer whose processor rounds otherwise measures the same, and [Plan.Measure] replays the
// release.
func (w *Workload) ChooseIn(s *curator.Session, u strategy.Unit) *Choice {
	c := w.Choose(u)
	if !w.ordinary() || c.Plan == nil {
		return c
	}
	of := fmt.Sprintf("marginals 1\nunit %d\n%s", u, w.text())
	if data := s.Choice(of); data != nil {
		var kept keptShares
		if json.Unmarshal(data, &kept) == nil && kept.Name == c.Plan.Name {
			c.Plan.restore(kept)
		}
	}
	kept := keptShares{Name: c.Plan.Name, Shares: c.Plan.shares}
	if t := c.Plan.tables; t != nil {
		kept.Shares, kept.Whole = t.shares, t.whole
	}
	if data, err := json.Marshal(kept); err == nil { // a share is finite, so there is no error
		c.Plan.kept = curator.Choice{Of: of, Data: data}
	}
	return c
}

// text describes a workload of plain values: the sizes, and the marginals with their weights.
func (w *Workload) text() string {
	out := ""
	for _, a := range w.domain.attributes {
		out += fmt.Sprintln(a.Size)
	}
	for _, it := range w.items {
		out += fmt.Sprintln(it.members, it.weight, it.count)
	}
	return out
}

// restore sets the shares of the plan to recorded ones, unless they cannot be this plan's.
func (p *Plan) restore(kept keptShares) {
	if len(kept.Shares) != len(p.residuals.members) {
		return
	}
	total := kept.Whole
	for class, x := range kept.Shares {
		if !(x >= 0) {
			return
		}
		total += x * p.residuals.count[class]
	}
	if !(kept.Whole >= 0) || math.Abs(total-1) > 1e-6 {
		return
	}
	if p.tables == nil {
		for _, x := range kept.Shares {
			if x == 0 {
				return
			}
		}
		p.shares = kept.Shares
		p.evaluate(p.loads())
		return
	}
	s, err := newShares(p)
	if err != nil {
		return
	}
	for i, x := range append(append([]float64{}, kept.Shares...), kept.Whole) {
		if x > 0 && s.of[i] == 0 { // a table that the plan does not measure
			return
		}
		s.of[i] = x
	}
	for _, i := range s.known() {
		if i == 0 {
			return
		}
	}
	p.tables.shares, p.tables.whole = kept.Shares, kept.Whole
	p.units = s.units()
	p.judge(p.loads())
}
