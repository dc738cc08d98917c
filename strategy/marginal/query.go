package marginal

import (
	"fmt"
	"slices"
)

// Query is a product of one vector of coefficients for each attribute: the sum over all cells of the count times the
// product of the coefficients. An attribute that is not named has coefficients 1.
type Query map[string][]float64

// Answer returns the estimate of a query and its variance. The query's attributes must be among those of one marginal of
// the workload. The query need not be in the workload.
func (e *Estimate) Answer(q Query) (value, variance float64, err error) {
	members, err := e.read(q)
	if err != nil {
		return 0, 0, err
	}
	e.within(members, func(p *part) {
		values := p.values
		for _, m := range p.members { // contract the first attribute
			coefficients := q[e.plan.Domain().attributes[m].Name]
			rest := len(values) / len(coefficients)
			next := make([]float64, rest)
			for i, c := range coefficients {
				for k := range rest {
					next[k] += c * values[i*rest+k]
				}
			}
			values = next
		}
		value += values[0] * e.means(members, p, q)
	})
	variance, err = e.Covariance(q, q)
	return value, variance, err
}

// means returns the product of the mean coefficients of the attributes outside a part.
func (e *Estimate) means(members []int, p *part, q Query) float64 {
	out := 1.0
	for _, m := range members {
		if a := e.plan.Domain().attributes[m]; !slices.Contains(p.members, m) {
			sum := 0.0
			for _, c := range q[a.Name] {
				sum += c
			}
			out *= sum / float64(a.Size)
		}
	}
	return out
}

// Covariance returns the covariance of the estimates of two queries, each as for [Estimate.Answer].
func (e *Estimate) Covariance(q, r Query) (float64, error) {
	ofQ, err := e.read(q)
	if err != nil {
		return 0, err
	}
	ofR, err := e.read(r)
	if err != nil {
		return 0, err
	}
	var both []int
	for _, m := range ofQ {
		if slices.Contains(ofR, m) {
			both = append(both, m)
		}
	}
	total := 0.0
	e.within(both, func(p *part) {
		v := p.variance * e.means(ofQ, p, q) * e.means(ofR, p, r)
		for _, m := range p.members {
			name := e.plan.Domain().attributes[m].Name
			v *= e.plan.factors[m].noise(q[name], r[name])
		}
		total += v
	})
	return total, nil
}

// read returns the positions of a query's attributes, ascending.
func (e *Estimate) read(q Query) ([]int, error) {
	var names []string
	for name := range q {
		names = append(names, name)
	}
	slices.Sort(names)
	members, err := e.plan.spanned(names)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if a := e.plan.Domain().attributes[m]; len(q[a.Name]) != a.Size {
			return nil, fmt.Errorf(
				"marginal: the query has %d coefficients for attribute %q, which has %d values", len(q[a.Name]), a.Name, a.Size,
			)
		}
	}
	return members, nil
}
