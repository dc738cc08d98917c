package post

import (
	"cmp"
	"math"
	"slices"

	"dither/internal/value"
	"dither/noise"
)

// form is a linear form constant + Σ coefficient·X over released numbers X. Each X is its true value plus a noise that is
// independent of the others' (see Noise). So the form's distance from its true value is the same form of the noises, and
// its distribution is public.
//
// Coefficients are doubles. Each operation on forms rounds, so off bounds the error of each coefficient, and of the
// constant relative to size. The intervals are widened by these errors.
type form struct {
	terms []term  // in the order of their ids, without zeros
	size  float64 // Σ |coefficient·X| + |constant|, over all steps of the computation
	off   float64 // a bound on the error of each coefficient
}

type term struct {
	id          int
	coefficient float64
	of          *Noise
	size        float64 // the magnitude of the released number
}

const rounding = 0x1p-50 // more than the relative error of a few operations on doubles

func released(id int, n *Noise, x float64) *form {
	return &form{terms: []term{{id, 1, n, math.Abs(x)}}, size: math.Abs(x)}
}

// constant returns the form of an exact number.
func constant(x float64) *form { return &form{size: math.Abs(x)} }

// times returns c·f.
func (f *form) times(c float64) *form {
	out := &form{size: f.size * math.Abs(c), terms: make([]term, 0, len(f.terms))}
	for _, t := range f.terms {
		t.coefficient *= c
		out.off = max(out.off, math.Abs(t.coefficient)*rounding)
		if t.coefficient != 0 {
			out.terms = append(out.terms, t)
		}
	}
	out.off += f.off * math.Abs(c) * (1 + rounding)
	return out
}

// plus returns f + c·g. It has at most as many terms as f and g together.
func (f *form) plus(g *form, c float64) *form {
	if c != 1 {
		g = g.times(c)
	}
	out := &form{size: f.size + g.size, off: (f.off + g.off) * (1 + rounding), terms: make([]term, 0, len(f.terms)+len(g.terms))}
	i, j := 0, 0
	for i < len(f.terms) || j < len(g.terms) {
		switch {
		case j == len(g.terms) || i < len(f.terms) && f.terms[i].id < g.terms[j].id:
			out.terms = append(out.terms, f.terms[i])
			i++
		case i == len(f.terms) || g.terms[j].id < f.terms[i].id:
			out.terms = append(out.terms, g.terms[j])
			j++
		default:
			t := f.terms[i]
			t.coefficient += g.terms[j].coefficient
			out.off = max(out.off, (f.off+g.off)*(1+rounding)+math.Abs(f.terms[i].coefficient)*rounding)
			if t.coefficient != 0 {
				out.terms = append(out.terms, t)
			}
			i, j = i+1, j+1
		}
	}
	return out
}

// part is a number of independent noises with the same coefficient, in the unit of their law.
type part struct {
	of          *Noise
	number      int     // of the noise, for laws.reach
	coefficient float64 // a magnitude
	times       float64
}

// laws computes the distributions of forms, and caches their quantiles. It is for one level of error.
type laws struct {
	alpha   float64
	numbers map[*Noise]int
	known   map[string]float64
	squares map[*Noise]float64 // variances
	half    *laws              // for alpha/2; nil until it is needed
	steps   *int               // how much more work the intervals may take (see reach)

	reaches, deviations map[*form]float64 // what is known of forms, which several numbers may have
	gathered            map[*form]*gathered
	quotients           map[divided]Interval
	table               map[ratioed]float64 // of reaches that are rounded up; nil if each is computed anew
}

// mostSteps bounds the work for intervals. Fieller's intervals of quotients take at most half of it.
const mostSteps = 40_000_000

func newLaws(alpha float64) *laws {
	steps := mostSteps
	return &laws{
		alpha: alpha, numbers: map[*Noise]int{}, known: map[string]float64{}, squares: map[*Noise]float64{},
		reaches: map[*form]float64{}, deviations: map[*form]float64{}, steps: &steps,
		gathered: map[*form]*gathered{}, quotients: map[divided]Interval{},
	}
}

func (l *laws) number(n *Noise) int {
	i, ok := l.numbers[n]
	if !ok {
		i = len(l.numbers)
		l.numbers[n] = i
	}
	return i
}

func (l *laws) variance(n *Noise) float64 {
	v, ok := l.squares[n]
	if !ok {
		v = n.Law.Variance()
		l.squares[n] = v
	}
	return v
}

// reach returns a distance that the error of Σ coefficient·X exceeds with probability at most alpha. It includes the
// rounding of the numbers to their units. The tail of a sum of symmetric unimodal noises grows with the magnitude of each
// coefficient, so it may round coefficients up.
//
// It counts a step for each part, and more steps for a quantile that is not known yet.
func (l *laws) reach(parts []part) float64 {
	*l.steps -= 1 + len(parts)
	for i := range parts {
		parts[i].number = l.number(parts[i].of)
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.coefficient, b.coefficient))
	})
	merged := parts[:0]
	for _, p := range parts {
		if n := len(merged) - 1; n >= 0 && merged[n].of == p.of && merged[n].coefficient == p.coefficient {
			merged[n].times += p.times
		} else {
			merged = append(merged, p)
		}
	}
	if len(merged) > manyParts {
		merged = coarser(merged)
	}
	if l.table != nil && len(merged) <= 2 {
		return l.tabulated(merged)
	}
	return l.computed(merged)
}

// computed is [laws.reach] of parts that are in order and differ.
func (l *laws) computed(parts []part) float64 {
	var key []byte
	for _, p := range parts {
		key = append(key, byte(p.number), byte(p.number>>8))
		key = bits(bits(key, p.coefficient), p.times)
	}
	out, ok := l.known[string(key)]
	if ok {
		return out
	}
	*l.steps -= stepsPerPart * len(parts)
	law, away := noise.Combination{}, 0.0
	for _, p := range parts {
		unit := p.coefficient * p.of.Unit * (1 + rounding)
		law.Add(unit, p.of.Law, p.times)
		away += unit * p.of.Rounding * p.times
	}
	out = (law.Quantile(l.alpha) + away) * (1 + 1e-12)
	l.known[string(key)] = out
	return out
}

// stepsPerPart is the number of steps that the quantile of a sum takes for each different coefficient.
const stepsPerPart = 150

// manyParts is the number of different coefficients from which on reach rounds them up, by at most 5 %, so that the work
// for a quantile stays small.
const manyParts = 64

// coarser rounds coefficients up to powers of 2^(1/16), and merges those that are then equal.
func coarser(parts []part) []part {
	out := parts[:0:0]
	for _, p := range parts { // in the order of their noises and coefficients
		p.coefficient = math.Exp2(math.Ceil(math.Log2(p.coefficient)*16)/16) * (1 + 1e-12)
		if n := len(out) - 1; n >= 0 && out[n].of == p.of && out[n].coefficient == p.coefficient {
			out[n].times += p.times
		} else {
			out = append(out, p)
		}
	}
	return out
}

func bits(to []byte, x float64) []byte {
	n := math.Float64bits(x)
	for range 8 {
		to = append(to, byte(n))
		n >>= 8
	}
	return to
}

// linear returns the interval of a form whose value is x. ok is false if it would take too long.
func (l *laws) linear(f *form, x float64) (i Interval, ok bool) {
	if len(f.terms) == 0 {
		return Interval{x, x}, true
	}
	reach, ok := l.reaches[f]
	if !ok {
		if *l.steps <= 0 {
			return Interval{}, false
		}
		of := l.gather(f)
		reach = l.reach(of.parts()) + of.slack
		l.reaches[f] = reach
	}
	return Interval{down(x - reach), up(x + reach)}, true
}

func down(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }
func up(x float64) float64   { return math.Nextafter(x, math.Inf(1)) }

// number returns the double nearest to a number, a date or a time.
func number(v value.Value) float64 {
	if v.Type == value.Real {
		return v.Real
	}
	return float64(v.Int)
}
