package marginal

// residuals are the parts into which a workload falls: the subsets A of its marginals' attributes, in classes that the
// workload treats alike. Part A holds the counts by A's attributes apart from what smaller subsets determine.
type residuals struct {
	workload *Workload
	index    map[subset]int // by representative
	members  [][]int        // by class, of the representative
	count    []float64      // by class: the number of subsets
	terms    [][]term       // by item of the workload
}

// term says how many subsets of one marginal are in a class.
type term struct {
	class int
	count float64
}

// residuals returns the parts of the workload. An attribute with a single value has no part of its own.
func (w *Workload) residuals() *residuals {
	r := &residuals{workload: w, index: map[subset]int{}}
	for _, it := range w.items {
		var split []int
		for _, m := range it.members {
			if w.domain.attributes[m].Size > 1 {
				split = append(split, m)
			}
		}
		terms := make([]term, 0, min(1<<len(split), 64))
		at := map[int]int{}
		subsets(split, func(s subset) {
			s = w.canonical(s)
			class, known := r.index[s]
			if !known {
				class = len(r.members)
				r.index[s] = class
				r.members = append(r.members, s.members())
				r.count = append(r.count, w.orbit(s))
			}
			if w.colours == nil { // no two subsets are in one class
				terms = append(terms, term{class, 1})
				return
			}
			i, known := at[class]
			if !known {
				i = len(terms)
				at[class] = i
				terms = append(terms, term{class: class})
			}
			terms[i].count++
		})
		r.terms = append(r.terms, terms)
	}
	return r
}

// class returns the class of a subset, and whether a marginal of the workload has its attributes.
func (r *residuals) class(s subset) (int, bool) {
	for _, m := range s.members() {
		if r.workload.domain.attributes[m].Size == 1 {
			s[m/64] &^= 1 << (m % 64)
		}
	}
	class, known := r.index[r.workload.canonical(s)]
	return class, known
}

// weigh returns, by class, the weight of one of its parts: the sum over the marginals W that contain A of weight(W)
// times the product of inside(k) over k in A and of outside(k) over the rest of W.
func (r *residuals) weigh(weight func(item) float64, inside, outside func(attribute int) float64) []float64 {
	out := make([]float64, len(r.members))
	ratio := r.ratios(inside, outside)
	for i, it := range r.workload.items {
		base := weight(it)
		for _, m := range it.members {
			base *= outside(m)
		}
		for _, t := range r.terms[i] {
			out[t.class] += it.count * t.count * base * ratio[t.class]
		}
	}
	for class := range out {
		out[class] /= r.count[class]
	}
	return out
}

// ratios returns, by class, the product of inside(k)/outside(k) over its attributes.
func (r *residuals) ratios(inside, outside func(attribute int) float64) []float64 {
	each := make([]float64, len(r.workload.domain.attributes))
	for m := range each {
		each[m] = inside(m) / outside(m)
	}
	out := make([]float64, len(r.members))
	for class, members := range r.members {
		out[class] = 1
		for _, m := range members {
			out[class] *= each[m]
		}
	}
	return out
}
