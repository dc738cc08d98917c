package strategies

import (
	"fmt"
	"slices"

	"dither/internal/cli/console"
	"dither/strategy"
	"dither/strategy/marginal"
	"dither/strategy/product"
)

// beside reports whether there are flags about one column each beside --marginals.
func (a asked) beside() bool {
	return len(a.prefixes)+len(a.ranges)+len(a.windows)+len(a.matrices)+len(a.levels)+len(a.crosses) > 0
}

// marginalsOf returns the attributes of --marginals, and the numbers of attributes of --ways.
func (a asked) marginalsOf() (*marginal.Domain, []marginal.Way, error) {
	switch {
	case a.marginals == "":
		return nil, nil, console.Usage("--ways needs the attributes: --marginals NAME:SIZE,…, such as --marginals age:10,sex:2")
	case a.ways == "":
		return nil, nil, console.Usage("--marginals needs the numbers of attributes of a marginal: --ways K,…, such as --ways 1,2")
	}
	d, err := domain(a.marginals)
	if err != nil {
		return nil, nil, err
	}
	ways, err := waysOf(a.ways, len(d.Attributes()))
	return d, ways, err
}

// mixed returns the terms of --marginals and of flags about one column each. The flags are about further columns, beside
// the attributes: one for each number of cells.
func (a asked) mixed() (out []product.Term, err error) {
	if len(a.crosses) > 0 {
		return nil, console.Usage("--cross names all columns: write marginals as --cross too, with total:N for each column that " +
			"a marginal sums over")
	}
	d, ways, err := a.marginalsOf()
	if err != nil {
		return nil, err
	}
	single, err := a.singles()
	if err != nil {
		return nil, err
	}
	marginals, err := d.WeightedWays(ways...)
	if err != nil {
		return nil, console.Usage("--ways %s: %s", a.ways, plain(err))
	}
	if n := marginals.Count(); n+float64(len(single)) > product.MaxTerms {
		return nil, console.Usage("--marginals has %g marginals: beside other questions at most %d fit", n, product.MaxTerms-len(single))
	}
	var asked, totals []product.Factor // by column
	for _, at := range d.Attributes() {
		f, err := attribute(at)
		if err != nil {
			return nil, console.Usage("--marginals: %q: %s", at.Name, words(err))
		}
		asked, totals = append(asked, f), append(totals, product.Total(at.Size))
	}
	attributes, sizes := len(asked), []int{}
	for _, w := range single {
		if !slices.Contains(sizes, w.Cells()) {
			sizes, totals = append(sizes, w.Cells()), append(totals, product.Total(w.Cells()))
		}
	}
	if len(totals) > product.MaxColumns {
		return nil, console.Usage("the questions are about %d columns, and may be about %d", len(totals), product.MaxColumns)
	}
	for _, way := range ways {
		combinations(attributes, way.Attributes, func(members []int) {
			t := product.Term{Factors: slices.Clone(totals), Weight: way.Weight}
			for _, m := range members {
				t.Factors[m] = asked[m]
			}
			out = append(out, t)
		})
	}
	for _, w := range single {
		t := product.Term{Factors: slices.Clone(totals)}
		t.Factors[attributes+slices.Index(sizes, w.Cells())] = product.Of(w)
		out = append(out, t)
	}
	return out, nil
}

// attribute returns the questions about an attribute.
func attribute(a marginal.Attribute) (product.Factor, error) {
	var w strategy.Workload
	var err error
	switch a.Queries {
	case marginal.Prefixes:
		w, err = strategy.Prefixes(a.Size)
	case marginal.Ranges:
		w, err = strategy.Ranges(a.Size)
	case marginal.Values:
		return product.Values(a.Size), nil
	default:
		return product.Factor{}, fmt.Errorf("there are no queries %v", a.Queries)
	}
	return product.Of(w), err
}

// combinations calls f for every choice of k of the numbers 0 … n−1, ascending. f must not keep its argument.
func combinations(n, k int, f func([]int)) {
	chosen := make([]int, 0, k)
	var next func(from int)
	next = func(from int) {
		if len(chosen) == k {
			f(chosen)
			return
		}
		for i := from; i <= n-(k-len(chosen)); i++ {
			chosen = append(chosen, i)
			next(i + 1)
			chosen = chosen[:len(chosen)-1]
		}
	}
	next(0)
}
