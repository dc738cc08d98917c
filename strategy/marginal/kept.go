package marginal

import (
	"encoding/json"
	"fmt"
	"math"

	"dither/curator"
	"dither/strategy"
)

// keptShares is a choice as a home records it: what floats computed.
type keptShares struct {
	Name   string    `json:"name"`
	Shares []float64 `json:"shares"`
	Whole  float64   `json:"whole,omitempty"`
	// by attribute, the integers of its matrix; nil for plain values and for a repeated matrix
	Rows [][][]int64 `json:"rows,omitempty"`
}

// ChooseIn returns the choice of [Workload.Choose], with the shares of the price and the integers that the home recorded when
// the plan was first measured. So a computer whose processor rounds otherwise measures the same, and [Plan.Measure] replays the
// release.
func (w *Workload) ChooseIn(s *curator.Session, u strategy.Unit) *Choice {
	c := w.Choose(u)
	if c.Plan == nil {
		return c
	}
	of := fmt.Sprintf("marginals 1\nunit %d\n%s", u, w.text())
	if data := s.Choice(of); data != nil {
		var kept keptShares
		if json.Unmarshal(data, &kept) == nil && kept.Name == c.Plan.Name {
			c.Plan.restore(kept)
		}
	}
	kept := keptShares{Name: c.Plan.Name, Shares: c.Plan.shares, Rows: c.Plan.rows()}
	if t := c.Plan.tables; t != nil {
		kept.Shares, kept.Whole = t.shares, t.whole
	}
	if data, err := json.Marshal(kept); err == nil { // a share is finite, so there is no error
		c.Plan.kept = curator.Choice{Of: of, Data: data}
	}
	return c
}

// rows returns the integers of the attributes' matrices, each once; nil if all have plain values.
func (p *Plan) rows() (out [][][]int64) {
	some, seen := false, map[*factor]bool{}
	for _, f := range p.factors {
		var rows [][]int64
		if f != nil && f.rows != nil && !seen[f] {
			rows, seen[f], some = f.rows, true, true
		}
		out = append(out, rows)
	}
	if !some {
		return nil
	}
	return out
}

// text describes a workload: the sizes and the kinds of questions, and the marginals with their weights.
func (w *Workload) text() string {
	out := ""
	if w.byMaximum {
		out = "maximum\n"
	}
	for _, a := range w.domain.attributes {
		if a.Queries != Values {
			out += fmt.Sprint(a.Queries) + " "
		}
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
		if p.rows() != nil && !p.replace(kept.Rows) {
			return
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

// replace takes recorded matrices in place of the plan's own. It reports false, and changes nothing, if they cannot be.
func (p *Plan) replace(rows [][][]int64) bool {
	own := p.rows()
	if len(rows) != len(own) {
		return false
	}
	of := map[*factor]*factor{}
	for i, f := range p.factors {
		if (rows[i] == nil) != (own[i] == nil) {
			return false
		}
		if rows[i] != nil {
			if of[f] = restored(p.Domain().attributes[i], rows[i]); of[f] == nil {
				return false
			}
		}
	}
	for i, f := range p.factors {
		if of[f] != nil {
			p.factors[i] = of[f]
		}
	}
	return true
}
