package derive

import (
	"math/big"
	"slices"
	"strconv"

	"dither/internal/plan"
	"dither/noise"
)

// Shapes caches the shapes of grouping sets. A shape consists of the sizes of the keys, the groupings, and the
// ratios between the variances of the groupings' noises. A price, or a share of it, scales all variances alike, so
// most aggregates of a question have the same shape, at every price. The zero value is empty. It is not safe for
// concurrent use.
type Shapes struct {
	known map[string]*shape
}

// shape is the lattice for variances divided by the first grouping's variance. It also holds all that determines
// the distribution of the noise in the fitted cells, except the noises themselves.
type shape struct {
	lattice *lattice
	kinds   [][]kind // by grouping: the noises in each fitted cell
	same    []int    // for each grouping, the index of the first grouping whose errors have the same distribution
}

// of returns the shape (see [Shapes]) of the j-th measure's tables.
func (s *Shapes) of(p *plan.Plan, j int) *shape {
	variance := variances(p, j)
	one, first := big.NewRat(1, 1), variance[0]
	var text []byte
	for i, v := range variance {
		switch {
		case i > 0 && v == first: // variances found this variance equal to the first one
			variance[i] = one
		case i > 0:
			variance[i] = new(big.Rat).Quo(v, first)
		}
		if i > 0 {
			text = append(append(text, variance[i].RatString()...), ' ')
		}
	}
	variance[0] = one
	for _, k := range p.Keys {
		text = strconv.AppendInt(append(text, '|'), int64(len(k.Values)), 10)
	}
	for _, g := range p.Groupings() {
		text = strconv.AppendUint(append(text, ','), keySet(g.Keys), 16)
	}
	if known := s.known[string(text)]; known != nil {
		return known
	}
	out := newShape(latticeWith(p, variance))
	if s.known == nil {
		s.known = map[string]*shape{}
	}
	s.known[string(text)] = out
	return out
}

func newShape(l *lattice) *shape {
	out := &shape{lattice: l}
	classes, first := l.classes(), map[string]int{}
	for i, s := range l.sets {
		counts := make([]byte, len(classes)) // the number of the grouping's keys in each class
		for _, k := range keysOf(s) {
			counts[classes[k]]++
		}
		like, ok := first[string(counts)]
		if !ok {
			kinds := l.kinds(s)
			// the errors of groupings of different classes may have the same distribution by coincidence
			like = slices.IndexFunc(out.kinds, func(o []kind) bool { return slices.Equal(o, kinds) })
			if like < 0 {
				like = i
			}
			first[string(counts)] = like
			out.kinds = append(out.kinds, kinds)
		} else {
			out.kinds = append(out.kinds, out.kinds[like])
		}
		out.same = append(out.same, like)
	}
	return out
}

// laws returns, for each grouping, the distribution of the noise in the cells of its fitted table.
func (s *shape) laws(noises []noise.Distribution) []*noise.Combination {
	var out []*noise.Combination
	for i, like := range s.same {
		if like < i {
			out = append(out, out[like])
		} else {
			out = append(out, lawOf(s.kinds[i], noises))
		}
	}
	return out
}

// classes divides the keys into classes of interchangeable keys. It returns, for each key, the first key of its
// class.
//
// Two keys are interchangeable if they have the same number of values, and exchanging them maps each grouping to a
// grouping of the same variance. Claim: the law of a grouping, the distribution of its fitted table's errors, depends
// only on how many of its keys are in each class. Proof. Such an exchange maps the noisy tables to noisy tables with
// the same law. The fit depends on nothing else, so the exchange maps the fit to the fit. A fitted table over some keys
// therefore has the law of the fitted table over the keys to which they are mapped. Exchanges can be combined:
// exchanging (k l), (l m) and (k l) in turn exchanges (k m). So it suffices to compare each key with the first of a
// class. ∎
func (l *lattice) classes() []int {
	of := map[uint64]int{}
	for i, s := range l.sets {
		of[s] = l.first(i)
	}
	mayChange := func(k, m int) bool {
		if l.sizes[k] != l.sizes[m] {
			return false
		}
		for i, s := range l.sets {
			t := s
			if s>>k&1 != s>>m&1 {
				t ^= 1<<k | 1<<m
			}
			if v, ok := of[t]; !ok || v != l.first(i) {
				return false
			}
		}
		return true
	}
	out := make([]int, len(l.sizes))
	for k := range out {
		out[k] = k
		for m := range k {
			if out[m] == m && mayChange(m, k) {
				out[k] = m
				break
			}
		}
	}
	return out
}
