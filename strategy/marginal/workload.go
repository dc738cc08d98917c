package marginal

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// MaxSubsets is the largest number of subsets that planning may visit: the sum of 2ʲ over the marginals with j
// attributes, where marginals that a symmetry of the domain maps to each other count once.
const MaxSubsets = 1 << 22

// Marginal is one table of a workload: the counts by these attributes, all others summed out. With [Prefixes] or
// [Ranges] on an attribute, the table has these sums in place of the attribute's values.
type Marginal struct {
	Attributes []string // none: the total
	Weight     float64  // of the squared error of each query; 0 is 1
}

// Workload is a set of marginals with weights.
type Workload struct {
	domain *Domain
	items  []item
	// colours, if not nil, are classes of attributes that the workload treats alike. Then items has one
	// representative of each class of marginals.
	colours [][]int
	ways    []int // of the marginals of a symmetric workload
	// the largest error decides, and not the mean: see ByMaximum
	byMaximum bool
}

// ByMaximum returns the workload for which [Workload.Choose] takes the plan of the least Maximum, and not of the least RMSE.
func (w *Workload) ByMaximum() *Workload {
	out := *w
	out.byMaximum = true
	return &out
}

// item is a class of marginals that a symmetry maps to each other.
type item struct {
	members []int   // of one of them, ascending
	weight  float64 // of each
	count   float64 // how many there are
}

// Marginals returns the workload of these marginals. A marginal may be listed once; attributes in another order are
// the same marginal. A weight must be from 10⁻⁹ to 10⁹.
func (d *Domain) Marginals(list ...Marginal) (*Workload, error) {
	w := &Workload{domain: d}
	seen := map[subset]bool{}
	for _, m := range list {
		members, err := d.positions(m.Attributes)
		if err != nil {
			return nil, err
		}
		slices.Sort(members)
		key := of(members...)
		if seen[key] {
			return nil, fmt.Errorf("marginal: the workload lists the marginal of %q twice", m.Attributes)
		}
		seen[key] = true
		if m.Weight == 0 {
			m.Weight = 1
		}
		if !usable(m.Weight) {
			return nil, fmt.Errorf(
				"marginal: the weight %v of the marginal of %q is not from 10⁻⁹ to 10⁹", m.Weight, m.Attributes,
			)
		}
		w.items = append(w.items, item{members: members, weight: m.Weight, count: 1})
	}
	return w, w.check()
}

// Ways returns the workload of all marginals of the given numbers of attributes: Ways(1, 2) has every marginal of one
// attribute and of two. A number is from 0 (the total) to the number of attributes.
func (d *Domain) Ways(ways ...int) (*Workload, error) {
	list := make([]Way, len(ways))
	for i, k := range ways {
		list[i].Attributes = k
	}
	return d.WeightedWays(list...)
}

// usable reports whether a weight is so near to 1 that sums of products of weights and errors are finite and above 0.
func usable(weight float64) bool { return weight >= 1e-9 && weight <= 1e9 }

// Way stands for all marginals of some number of attributes.
type Way struct {
	Attributes int
	Weight     float64 // of the squared error of each query; 0 is 1
}

// WeightedWays returns the workload of all marginals of the given numbers of attributes, as [Domain.Ways] does, with
// weights. A weight must be from 10⁻⁹ to 10⁹.
func (d *Domain) WeightedWays(ways ...Way) (*Workload, error) {
	w := &Workload{domain: d, colours: d.colours()}
	for _, way := range ways {
		k := way.Attributes
		if way.Weight == 0 {
			way.Weight = 1
		}
		switch {
		case !usable(way.Weight):
			return nil, fmt.Errorf("marginal: the weight %v of the %d-way marginals is not from 10⁻⁹ to 10⁹", way.Weight, k)
		case k < 0 || k > len(d.attributes):
			return nil, fmt.Errorf("marginal: there are no %d-way marginals of %d attributes", k, len(d.attributes))
		case slices.Contains(w.ways, k):
			return nil, fmt.Errorf("marginal: the workload lists %d-way marginals twice", k)
		}
		w.ways = append(w.ways, k)
		if err := w.choose(k, way.Weight); err != nil {
			return nil, err
		}
	}
	return w, w.check()
}

// colours returns the classes of attributes with equal size and queries.
func (d *Domain) colours() [][]int {
	class := map[Attribute]int{}
	var out [][]int
	for i, a := range d.attributes {
		a.Name = ""
		c, known := class[a]
		if !known {
			c = len(out)
			class[a] = c
			out = append(out, nil)
		}
		out[c] = append(out[c], i)
	}
	return out
}

// choose adds a representative of each class of marginals of k attributes, with a weight.
func (w *Workload) choose(k int, weight float64) error {
	members := make([]int, 0, k)
	most := len(w.items) + int(math.Ldexp(MaxSubsets, -k)) // so that the search ends before it is too large to plan
	after := make([]int, len(w.colours)+1)                 // attributes from a colour on
	for c := len(w.colours) - 1; c >= 0; c-- {
		after[c] = after[c+1] + len(w.colours[c])
	}
	var next func(colour, left int, count float64) bool
	next = func(colour, left int, count float64) bool {
		if left == 0 {
			w.items = append(w.items, item{members: slices.Sorted(slices.Values(members)), weight: weight, count: count})
			return len(w.items) <= most
		}
		if left > after[colour] {
			return true
		}
		class := w.colours[colour]
		for n := min(left, len(class)); n >= 0; n-- {
			before := len(members)
			members = append(members, class[:n]...)
			if !next(colour+1, left-n, count*choices(len(class), n)) {
				return false
			}
			members = members[:before]
		}
		return true
	}
	if !next(0, k, 1) {
		return tooLarge()
	}
	return nil
}

// choices returns n choose k.
func choices(n, k int) float64 {
	out := 1.0
	for i := range min(k, n-k) {
		out = out * float64(n-i) / float64(i+1)
	}
	return math.Round(out)
}

// check returns an error if the workload is empty or too large to plan.
func (w *Workload) check() error {
	if len(w.items) == 0 {
		return errors.New("marginal: the workload has no marginals")
	}
	total := 0.0
	for _, it := range w.items {
		total += math.Ldexp(1, min(len(it.members), 1000))
		if total > MaxSubsets {
			return tooLarge()
		}
	}
	return nil
}

// tooLarge is the error of a workload that is too large to plan.
func tooLarge() error {
	return fmt.Errorf(
		"marginal: the workload is too large to plan: its marginals have more than %d subsets of attributes; "+
			"use marginals of fewer attributes, or fewer marginals", MaxSubsets,
	)
}

// Domain returns the domain of the workload.
func (w *Workload) Domain() *Domain { return w.domain }

// Count returns the number of marginals. It is a float because it may be large.
func (w *Workload) Count() float64 {
	n := 0.0
	for _, it := range w.items {
		n += it.count
	}
	return n
}

// each calls f for the attributes of every marginal, in a fixed order. f must not keep its argument.
func (w *Workload) each(f func(members []int)) {
	if w.colours == nil {
		for _, it := range w.items {
			f(it.members)
		}
		return
	}
	all := make([]int, len(w.domain.attributes))
	for i := range all {
		all[i] = i
	}
	for _, k := range w.ways {
		combinations(all, k, f)
	}
}

// Names returns the attributes of each marginal of the workload.
func (w *Workload) Names() (out [][]string) {
	w.each(func(members []int) {
		names := make([]string, len(members))
		for i, m := range members {
			names[i] = w.domain.attributes[m].Name
		}
		out = append(out, names)
	})
	return out
}

// canonical returns the representative of the class of a subset.
func (w *Workload) canonical(s subset) subset {
	if w.colours == nil {
		return s
	}
	var out subset
	for _, class := range w.colours {
		n := 0
		for _, m := range class {
			if s.has(m) {
				p := class[n]
				out[p/64] |= 1 << (p % 64)
				n++
			}
		}
	}
	return out
}

// orbit returns the number of subsets in the class of s.
func (w *Workload) orbit(s subset) float64 {
	out := 1.0
	for _, class := range w.colours {
		n := 0
		for _, m := range class {
			if s.has(m) {
				n++
			}
		}
		out *= choices(len(class), n)
	}
	return out
}
