package product

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"

	"dither/strategy"
)

// ErrWorkload reports questions that no strategy can be chosen for.
var ErrWorkload = errors.New("product: invalid workload")

// Limits of a workload.
const (
	MaxColumns = 16
	MaxTerms   = 20_000
	MaxValues  = 1 << 20 // of a column of which only single values and totals are asked
	// MaxOrdered is the largest number of values of a column of which intervals or sets are asked. Running totals alone
	// and all ranges alone may have strategy.MaxOptimised.
	MaxOrdered = strategy.MaxDense
)

// Term is a family of questions: one for each combination of a question about each column.
type Term struct {
	Factors []Factor // one for each column
	Weight  float64  // of the variance of each question in the mean; 0 is 1
}

// Workload is a union of terms over the same columns.
type Workload struct {
	columns []column
	of      []int // for each term of NewWorkload, the index of the term that has its questions
	digest  string
	terms   []term
	queries float64
	weight  float64
}

// column has the different factors of one column.
type column struct {
	cells   int
	factors []Factor
}

// flat reports whether only totals and single values of the column are asked.
func (c column) flat() bool {
	return !slices.ContainsFunc(c.factors, func(f Factor) bool { return f.kind == other })
}

// term is a term whose factors are indices of the columns' factors.
type term struct {
	of     []int
	weight float64
	from   []int // the terms of NewWorkload that it has
}

// NewWorkload returns the union of the terms. Terms that differ in one column alone become one term, which changes no
// question. It returns ErrWorkload if the terms have different columns, or exceed a limit.
func NewWorkload(terms ...Term) (*Workload, error) {
	if len(terms) == 0 || len(terms) > MaxTerms {
		return nil, fmt.Errorf("%w: there must be 1 to %d families of questions, not %d", ErrWorkload, MaxTerms, len(terms))
	}
	w := &Workload{columns: make([]column, len(terms[0].Factors))}
	if n := len(w.columns); n == 0 || n > MaxColumns {
		return nil, fmt.Errorf("%w: there must be 1 to %d columns, not %d", ErrWorkload, MaxColumns, n)
	}
	digests := make([][]string, len(w.columns))
	for i, t := range terms {
		if len(t.Factors) != len(w.columns) {
			return nil, fmt.Errorf("%w: family %d asks about %d columns, and family 1 about %d",
				ErrWorkload, i+1, len(t.Factors), len(w.columns))
		}
		if t.Weight == 0 {
			t.Weight = 1
		}
		if !(t.Weight >= 1e-9) || t.Weight > 1e6 {
			return nil, fmt.Errorf("%w: a weight must be from 10⁻⁹ to 10⁶", ErrWorkload)
		}
		own, queries := term{weight: t.Weight, from: []int{i}}, 1.0
		for k, f := range t.Factors {
			c := &w.columns[k]
			if i == 0 {
				c.cells = f.cells
			}
			if f.cells != c.cells || f.cells < 1 {
				return nil, fmt.Errorf("%w: family %d has %d values of column %d, and family 1 has %d",
					ErrWorkload, i+1, f.cells, k+1, c.cells)
			}
			own.of = append(own.of, c.place(f, &digests[k]))
			queries *= float64(f.Queries())
		}
		weight := own.weight
		for _, f := range t.Factors {
			weight *= f.weight()
		}
		w.terms, w.queries, w.weight = append(w.terms, own), w.queries+queries, w.weight+weight
	}
	if err := w.merge(); err != nil {
		return nil, err
	}
	w.of = make([]int, len(terms))
	for i, t := range w.terms {
		for _, from := range t.from {
			w.of[from] = i
		}
	}
	w.digest = w.summary()
	return w, w.check()
}

// summary returns a text that determines the terms.
func (w *Workload) summary() string {
	h := sha256.New()
	for _, c := range w.columns {
		_, _ = fmt.Fprintf(h, "column %d\n", c.cells)
		for _, f := range c.factors {
			_, _ = fmt.Fprintf(h, "%s\n", f.digest())
		}
	}
	for _, t := range w.terms {
		_, _ = fmt.Fprintf(h, "term %v %x %v\n", t.of, math.Float64bits(t.weight), t.from)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Digest returns a text that determines the workload.
func (w *Workload) Digest() string { return w.digest }

// place returns the index of a factor, which it adds unless the column has it.
func (c *column) place(f Factor, digests *[]string) int {
	d := f.digest()
	if i := slices.Index(*digests, d); i >= 0 {
		return i
	}
	c.factors, *digests = append(c.factors, f), append(*digests, d)
	return len(c.factors) - 1
}

// merge makes one term of equal terms, and of terms that differ in one column alone: its factor there has the questions of
// all of them. Totals and single values of a column stay apart, since their union has no smaller form.
func (w *Workload) merge() error {
	for k := range w.columns {
		c := &w.columns[k]
		groups, order := map[string][]term{}, []string{}
		for _, t := range w.terms {
			others := fmt.Sprint(t.of[:k], t.of[k+1:])
			if c.flat() {
				others = fmt.Sprint(t.of)
			}
			if groups[others] == nil {
				order = append(order, others)
			}
			groups[others] = append(groups[others], t)
		}
		w.terms = w.terms[:0]
		var digests []string
		merged := column{cells: c.cells}
		for _, others := range order {
			group := groups[others]
			f, weight := c.factors[group[0].of[k]], group[0].weight
			if len(group) > 1 {
				var err error
				if f, weight, err = c.union(group, k); err != nil {
					return err
				}
			}
			t := term{of: slices.Clone(group[0].of), weight: weight}
			for _, g := range group {
				t.from = append(t.from, g.from...)
			}
			t.of[k] = merged.place(f, &digests)
			w.terms = append(w.terms, t)
		}
		c.factors = merged.factors
	}
	return nil
}

// union returns the union of the factors of terms, weighted as the terms are, and the weight of their term.
func (c *column) union(group []term, k int) (Factor, float64, error) {
	sums, order := map[int]float64{}, []int{}
	for _, t := range group {
		if sums[t.of[k]] == 0 {
			order = append(order, t.of[k])
		}
		sums[t.of[k]] += t.weight
	}
	most := 0.0
	for _, v := range sums {
		most = max(most, v)
	}
	if len(order) == 1 {
		return c.factors[order[0]], most, nil
	}
	var all []strategy.Workload
	for _, i := range order {
		of, err := c.factors[i].workload()
		if err == nil {
			of, err = of.Weighted(max(sums[i]/most, 1e-9))
		}
		if err != nil {
			return Factor{}, 0, fmt.Errorf("%w: %w", ErrWorkload, err)
		}
		all = append(all, of)
	}
	u, err := strategy.Union(all...)
	if err != nil {
		return Factor{}, 0, fmt.Errorf("%w: %w", ErrWorkload, err)
	}
	return Of(u), most, nil
}

// check refuses columns that are too large.
func (w *Workload) check() error {
	for k, c := range w.columns {
		n := MaxOrdered
		switch {
		case c.flat():
			n = MaxValues
		case len(c.factors) == 1 && c.factors[0].of.Structured():
			n = strategy.MaxOptimised
		}
		if c.cells > n {
			return fmt.Errorf("%w: column %d has %d values, and may have %d with these questions; group them into bins",
				ErrWorkload, k+1, c.cells, n)
		}
	}
	return nil
}

// Alike returns for each term of [NewWorkload] a number, which is the same for terms that were merged. [Plan.Estimate] takes
// the same released numbers for these.
func (w *Workload) Alike() []int { return slices.Clone(w.of) }

// Queries returns the number of questions, as a float because it may be large.
func (w *Workload) Queries() float64 { return w.queries }

// Cells returns the number of cells, as a float because it may be large.
func (w *Workload) Cells() float64 {
	n := 1.0
	for _, c := range w.columns {
		n *= float64(c.cells)
	}
	return n
}

// rmse returns the root of the weighted mean of a sum of variances.
func (w *Workload) rmse(sum float64) float64 { return math.Sqrt(sum / w.weight) }
