package product

import (
	"math"
	"slices"

	"dither/strategy"
)

// Plan is a set of measurements, with the expected errors of the workload that they are for.
type Plan struct {
	Name string
	Unit strategy.Unit
	strategy.Expected

	workload *Workload
	parts    []part
	serves   [][]int // for each term, the parts that its answers add up
	whole    int64   // the sum of the parts' weights
}

// part is a measured product, with the weight of its share of the price.
type part struct {
	pieces []piece
	weight int64
}

// granularity is the sum of the parts' weights, up to rounding.
const granularity = 1 << 24

// newPlan divides the price among parts, and computes the errors. serves has for each term the parts whose contributions
// add up to its answers. It returns nil if the largest error would take too long to find.
//
// With the share s of a price in ρ, a part's noise has 1/s times the variance that it has for the whole price. The sum of
// E_p/s_p over the parts is least for shares proportional to the roots of the parts' errors E_p. For a price in ε, the
// variance has 1/s², and shares are proportional to the third roots.
func newPlan(name string, w *Workload, unit strategy.Unit, parts []part, serves [][]int) *Plan {
	p := &Plan{Name: name, Unit: unit, workload: w, parts: slices.Clone(parts), serves: serves}
	table := p.table()
	sums, shares, all := p.sums(table), make([]float64, len(parts)), 0.0
	for i, sum := range sums {
		shares[i] = math.Sqrt(sum)
		if unit == strategy.Epsilon {
			shares[i] = math.Cbrt(sum)
		}
		all += shares[i]
	}
	for i := range p.parts {
		p.parts[i].weight = max(1, int64(math.Round(shares[i]/all*granularity)))
	}
	return p.expect(table, sums)
}

// newPlanOf returns the plan of parts with their weights.
func newPlanOf(name string, w *Workload, unit strategy.Unit, parts []part, serves [][]int) *Plan {
	p := &Plan{Name: name, Unit: unit, workload: w, parts: parts, serves: serves}
	table := p.table()
	return p.expect(table, p.sums(table))
}

// sums returns each part's weighted sum of variances for the whole price.
func (p *Plan) sums(t table) []float64 {
	out := make([]float64, len(p.parts))
	for at, of := range p.workload.terms {
		for _, i := range p.serves[at] {
			out[i] += of.weight * t.product(i, of, func(e errs) float64 { return e.sum })
		}
	}
	return out
}

// expect computes the errors; nil if that takes too long.
func (p *Plan) expect(t table, sums []float64) *Plan {
	for _, of := range p.parts {
		p.whole += of.weight
	}
	sum := 0.0
	for i, s := range sums {
		sum += s * p.factor(i)
	}
	p.RMSE = p.workload.rmse(sum)
	most, ok := p.largest(t)
	if !ok {
		return nil
	}
	p.Maximum = math.Sqrt(most)
	return p
}

// factor returns how many times larger a part's variance is at its share of the price than at the whole price.
func (p *Plan) factor(part int) float64 {
	f := float64(p.whole) / float64(p.parts[part].weight)
	if p.Unit == strategy.Epsilon {
		f *= f
	}
	return f
}

// table has the errors of each factor of each column, for each part.
type table [][][]errs

func (p *Plan) table() table {
	out := make(table, len(p.parts))
	type measured struct { // columns with the same questions may share a piece
		piece  piece
		column int
	}
	known := map[measured][]errs{}
	for i, of := range p.parts {
		for k, c := range p.workload.columns {
			e, ok := known[measured{of.pieces[k], k}]
			if !ok {
				for _, f := range c.factors {
					e = append(e, errorsOf(of.pieces[k], f))
				}
				known[measured{of.pieces[k], k}] = e
			}
			out[i] = append(out[i], e)
		}
	}
	return out
}

// product multiplies a figure of a term's factors in a part.
func (t table) product(part int, of term, figure func(errs) float64) float64 {
	out := 1.0
	for k, f := range of.of {
		out *= figure(t[part][k][f])
	}
	return out
}

// mostPoints limits the combinations of questions that a search for the largest error visits.
const mostPoints = 1 << 21

// largest returns the largest variance of an answer. If one part serves a term, it is the product of the largest variances
// of the columns. Otherwise it is the largest of Σ_p f_p·Π_k v_pk over the questions, which increases with each v_pk: so
// only questions that no other exceeds in all parts are tried.
func (p *Plan) largest(t table) (most float64, ok bool) {
	visited := 0
	for at, of := range p.workload.terms {
		serves := p.serves[at]
		if len(serves) == 1 {
			most = max(most, p.factor(serves[0])*t.product(serves[0], of, func(e errs) float64 { return e.most }))
			continue
		}
		fronts := make([][][]float64, len(of.of)) // by column and question: the variances in the parts
		combinations := 1.0
		for k, f := range of.of {
			fronts[k] = p.front(serves, k, p.workload.columns[k].factors[f])
			combinations *= float64(len(fronts[k]))
		}
		if combinations*float64(len(serves)) > mostPoints-float64(visited) {
			return 0, false
		}
		visited += int(combinations) * len(serves)
		each := make([]float64, len(serves))
		for i, s := range serves {
			each[i] = p.factor(s)
		}
		var visit func(k int, each []float64)
		visit = func(k int, each []float64) {
			if k == len(fronts) {
				sum := 0.0
				for _, v := range each {
					sum += v
				}
				most = max(most, sum)
				return
			}
			next := make([]float64, len(each))
			for _, point := range fronts[k] {
				for i, v := range point {
					next[i] = each[i] * v
				}
				visit(k+1, next)
			}
		}
		visit(0, each)
	}
	return most, true
}

// front returns the variances of a factor's questions in some parts, without those that others exceed in all parts.
func (p *Plan) front(parts []int, k int, f Factor) (out [][]float64) {
	var lists [][]float64
	known := map[piece][]float64{}
	n := 1
	for _, i := range parts {
		of := p.parts[i].pieces[k]
		list, ok := known[of]
		if !ok {
			of.each(f, func(v, _ float64) { list = append(list, v) })
			known[of] = list
		}
		n, lists = max(n, len(list)), append(lists, list)
	}
	for q := range n {
		point := make([]float64, len(lists))
		for i, list := range lists {
			point[i] = list[min(q, len(list)-1)] // one entry stands for questions that are all alike
		}
		if !slices.ContainsFunc(out, func(o []float64) bool { return below(point, o) }) {
			out = slices.DeleteFunc(out, func(o []float64) bool { return below(o, point) })
			out = append(out, point)
		}
	}
	return out
}

// below reports whether no entry of a exceeds that of b.
func below(a, b []float64) bool {
	for i, v := range a {
		if v > b[i] {
			return false
		}
	}
	return true
}
