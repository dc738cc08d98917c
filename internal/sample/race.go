package sample

import (
	"math"
	"math/big"
	"slices"

	"dither/internal/entropy"
	"dither/internal/exact"
)

// Race draws from a list of entrants with P(i) ∝ w_i·exp(c·s_i), exactly: w_i is a positive integer, c a public
// rational of at least 0, and s_i an integer score. Entrants come one at a time, and only the leading ones are
// remembered.
//
// Each entrant runs for a time E_i/(w_i·exp(c·s_i)), with E_i = −ln U_i for a uniform real U_i in (0, 1), and the
// least time wins. E_i is exponential of rate 1, so the time is exponential of rate r_i = w_i·exp(c·s_i), and of
// independent exponentials
//
//	P(i is first) = ∫₀^∞ r_i·exp(−r_i·t)·∏_{j≠i} exp(−r_j·t) dt = r_i/Σ_j r_j.
//
// Given who is first, and when, what the others have left to run is exponential of their rates again, for it has no
// memory: who is second is drawn in proportion to r among the others, and so on. So the first k in the order of their
// finish are a sample without replacement, drawn one after another [Efraimidis & Spirakis 2006; in logarithms, Yellott
// 1977].
//
// Times are compared by their logarithms, T_i = G_i − c·s_i with G_i = ln(E_i/w_i), as G_i − G_j against c·(s_i
// − s_j): the scores enter by their exact difference alone, so nothing overflows and no rate is too small to be told
// from 0. U_i is known by its first binary digits, which makes G_i an interval. Where two intervals leave open who is
// before, both are narrowed: more digits of U, and more bits in the logarithms. What digits will come has no part in
// which are asked for, so that those of each U_i are independent and uniform however many are revealed. Two times are
// equal with probability 0, since U_i has a density whatever U_j is; else some number of digits tells them apart. So
// the comparison ends with probability 1, and is exact.
//
// How many digits are read depends on the scores: see the package comment on time.
type Race struct {
	src        *entropy.Source
	rate       *big.Rat // c
	down, up   float64  // bounds of c
	keep       int
	kept       []*runner // at most keep of them, as a heap with the last finisher at the root
	challenger runner    // the entrant being tried; a field, so that rejected entrants take no memory
	exactly    bool      // for tests: treat every comparison as undecided by the floats
}

// runner is an entrant with bounds on its time.
type runner struct {
	index     int64
	weight    uint64 // w, or 0 if bigWeight holds it
	score     int64  // s, unless bigScore holds it
	bigWeight *big.Int
	bigScore  *big.Int
	early     float64  // a lower bound of G
	late      float64  // an upper bound of it
	word      uint64   // the first 64 digits of U
	digits    *big.Int // all digits that are known, as an integer; nil until more than the word has been asked for
	known     uint     // how many digits are known
}

// NewRace begins a race of rate c that remembers the first keep entrants. A nil or negative c, or a keep below 1, is a
// programmer's error, and panics.
func NewRace(src *entropy.Source, c *big.Rat, keep int) *Race {
	if c == nil || c.Sign() < 0 || keep < 1 {
		panic("sample: a race needs a rate of at least 0 and room for a winner")
	}
	return &Race{src: src, rate: new(big.Rat).Set(c), down: exact.FloatDown(c), up: exact.FloatUp(c), keep: keep}
}

// Enter adds an entrant, and returns whether it is among the first so far; if not, it never will be. An entrant of
// weight 0 never wins, and is left out.
func (r *Race) Enter(index int64, weight uint64, score int64) bool {
	if weight == 0 {
		return false
	}
	r.challenger = runner{index: index, weight: weight, score: score}
	return r.run(weightBounds(weight))
}

// EnterBig is Enter for a weight and a score of any size, neither nil. A negative weight is a programmer's error, and
// panics.
func (r *Race) EnterBig(index int64, weight, score *big.Int) bool {
	if weight.Sign() < 0 {
		panic("sample: a negative weight in a race")
	}
	if weight.IsUint64() && score.IsInt64() {
		return r.Enter(index, weight.Uint64(), score.Int64())
	}
	if weight.Sign() == 0 {
		return false
	}
	w := new(big.Rat).SetInt(weight)
	r.challenger = runner{index: index, bigWeight: w.Num(), bigScore: new(big.Int).Set(score)}
	return r.run(exact.FloatDown(w), exact.FloatUp(w))
}

// Winners are the indices of the first keep entrants, or of all if they are fewer, in order of finish.
func (r *Race) Winners() []int64 {
	slices.SortFunc(r.kept, func(x, y *runner) int { // the last one first, which is a heap again
		switch {
		case x == y:
			return 0
		case r.compare(x, y) == behind:
			return -1
		}
		return 1
	})
	out := make([]int64, len(r.kept))
	for i := range r.kept {
		out[len(out)-1-i] = r.kept[i].index
	}
	return out
}

// run draws the challenger's first digits and finds its place, if it has one; light and heavy bound its weight.
//
// Its U lies in [m, m+1]/2⁵³ for the first 53 digits m. For most, −ln U ≥ 1 − U settles that they are behind
// all who are kept.
func (r *Race) run(light, heavy float64) bool {
	x := &r.challenger
	x.word, x.known = r.src.Uint64(), 64
	m := float64(x.word >> 11)
	x.early, x.late = exact.LogDown(exact.DivDown((1<<53-1-m)*0x1p-53, heavy)), math.Inf(1)
	full := len(r.kept) == r.keep
	if full && !r.exactly && r.surely(x, r.kept[0]) == behind {
		return false
	}
	x.early = exact.LogDown(exact.DivDown(-exact.LogUp((m+1)*0x1p-53), heavy))
	x.late = exact.LogUp(exact.DivUp(-exact.LogDown(m*0x1p-53), light))
	switch {
	case !full:
		entered := *x
		r.kept = append(r.kept, &entered)
		r.rise()
	case r.compare(x, r.kept[0]) == behind:
		return false
	default:
		*r.kept[0] = *x
		r.sink()
	}
	return true
}

// rise moves the newest entrant up the heap, past those that are ahead of it.
func (r *Race) rise() {
	for i := len(r.kept) - 1; i > 0; {
		parent := (i - 1) / 2
		if r.compare(r.kept[i], r.kept[parent]) == ahead {
			return
		}
		r.kept[i], r.kept[parent] = r.kept[parent], r.kept[i]
		i = parent
	}
}

// sink moves the root down the heap, past those that are behind it.
func (r *Race) sink() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(r.kept) {
			return
		}
		if child+1 < len(r.kept) && r.compare(r.kept[child+1], r.kept[child]) == behind {
			child++
		}
		if r.compare(r.kept[child], r.kept[i]) == ahead {
			return
		}
		r.kept[i], r.kept[child] = r.kept[child], r.kept[i]
		i = child
	}
}
