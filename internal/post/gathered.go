package post

import (
	"cmp"
	"math"
	"slices"
)

// gathered is a form whose terms with the same noise and the same coefficient are counted together. A total of thousands
// of numbers is one kind of term.
type gathered struct {
	*form
	kinds []kind  // in the order of compare
	slack float64 // bounds the effect of rounded coefficients on the value of the form
}

// kind is a number of released numbers with the same noise, with their coefficients in two forms.
type kind struct {
	of     *Noise
	number int     // of the noise: see laws.number
	p, q   float64 // the coefficients
	times  float64
}

func (k kind) compare(o kind) int {
	return cmp.Or(cmp.Compare(k.number, o.number), cmp.Compare(k.p, o.p), cmp.Compare(k.q, o.q))
}

// gather counts the terms of f. The coefficients are p of the kinds.
func (l *laws) gather(f *form) *gathered {
	if known, ok := l.gathered[f]; ok {
		return known
	}
	*l.steps -= len(f.terms)
	out := &gathered{form: f, slack: f.size * rounding * 4, kinds: make([]kind, len(f.terms))}
	for i, t := range f.terms {
		out.slack += f.off * t.size
		out.kinds[i] = kind{of: t.of, number: l.number(t.of), p: t.coefficient, times: 1}
	}
	out.kinds = counted(out.kinds)
	l.gathered[f] = out
	return out
}

// counted sorts kinds and counts equal ones together.
func counted(kinds []kind) []kind {
	slices.SortFunc(kinds, kind.compare)
	out := kinds[:0]
	for _, k := range kinds {
		if n := len(out) - 1; n >= 0 && out[n].compare(k) == 0 {
			out[n].times += k.times
		} else {
			out = append(out, k)
		}
	}
	return slices.DeleteFunc(out, func(k kind) bool { return k.times == 0 })
}

// parts returns the noises of a form.
func (g *gathered) parts() []part {
	out := make([]part, len(g.kinds))
	for i, k := range g.kinds {
		out[i] = part{of: k.of, coefficient: math.Abs(k.p)*(1+rounding) + g.off, times: k.times}
	}
	return out
}

// pair is two forms n and d of the same released numbers.
type pair struct {
	n, d  *gathered
	kinds []kind // the coefficients in n and in d
}

// pair takes a time that grows with the terms of n and the kinds of d.
func (l *laws) pair(n, d *form) *pair {
	out := &pair{n: l.gather(n), d: l.gather(d)}
	for _, k := range out.d.kinds {
		out.kinds = append(out.kinds, kind{of: k.of, number: k.number, q: k.p, times: k.times})
	}
	*l.steps -= len(n.terms) + len(out.kinds)
	for _, t := range n.terms {
		k := kind{of: t.of, number: l.number(t.of), p: t.coefficient, times: 1}
		at, both := slices.BinarySearchFunc(d.terms, t.id, func(t term, id int) int { return cmp.Compare(t.id, id) })
		if both {
			k.q = d.terms[at].coefficient
			alone := kind{of: k.of, number: k.number, q: k.q, times: -1}
			out.kinds = append(out.kinds, alone)
		}
		out.kinds = append(out.kinds, k)
	}
	out.kinds = counted(out.kinds)
	return out
}

// parts returns the noises of n − θd with the largest coefficients for θ between a and b.
func (s *pair) parts(a, b float64) []part {
	most := math.Max(math.Abs(a), math.Abs(b))
	return s.largest(s.n.off+most*s.d.off, func(k kind) float64 {
		return math.Max(math.Abs(k.p-a*k.q), math.Abs(k.p-b*k.q)) + (math.Abs(k.p)+most*math.Abs(k.q))*rounding
	})
}

// inverse returns the noises of d − φn with the largest coefficients for φ between 0 and phi.
func (s *pair) inverse(phi float64) []part {
	return s.largest(s.d.off+math.Abs(phi)*s.n.off, func(k kind) float64 {
		return math.Max(math.Abs(k.q), math.Abs(k.q-phi*k.p)) + (math.Abs(k.q)+math.Abs(phi*k.p))*rounding
	})
}

func (s *pair) largest(off float64, coefficient func(kind) float64) (out []part) {
	for _, k := range s.kinds {
		if c := coefficient(k) + off; c > 0 {
			out = append(out, part{of: k.of, coefficient: c, times: k.times})
		}
	}
	return out
}
