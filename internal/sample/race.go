package sample

import (
	"math"
	"math/big"
	"slices"

	"dither/internal/entropy"
	"dither/internal/exact"
)

// Race draws from a list of entrants with P(i) ∝ w_i·exp(c·s_i), exactly. w_i is an integer above 0, c a public
// rational of at least 0, and s_i an integer score. Entrants come one at a time, and the race stores only the
// leading ones.
//
// Each entrant has a running time E_i/(w_i·exp(c·s_i)), with E_i = −ln U_i for a uniform real U_i in (0, 1). The
// entrant with the least time wins. E_i is exponential of rate 1, so the time is exponential of rate r_i =
// w_i·exp(c·s_i). For independent exponentials,
//
//	P(i is first) = ∫₀^∞ r_i·exp(−r_i·t)·∏_{j≠i} exp(−r_j·t) dt = r_i/Σ_j r_j.
//
// Given the winner and its time, the remaining times of the others are again exponential with their rates, because
// exponentials have no memory. So the second is drawn in proportion to r among the others, and so on. The first k
// entrants in order of their times are therefore a sample without replacement, drawn one after another [Efraimidis
// & Spirakis 2006; in logarithms, Yellott 1977].
//
// The code compares times by their logarithms, T_i = G_i − c·s_i with G_i = ln(E_i/w_i). It compares G_i − G_j with
// c·(s_i − s_j). Only the exact differences of scores enter, so nothing overflows, and no rate underflows to 0. The
// first binary digits of U_i are known, which makes G_i an interval. If two intervals do not decide the order, both
// are narrowed, with more digits of U and more bits in the logarithms. The number of digits that are requested does
// not depend on digits that are not yet drawn. So the digits of each U_i are independent and uniform, however many
// are drawn. Two times are equal with probability 0, since U_i has a density for every value of U_j. If they
// differ, some number of digits decides. So the comparison ends with probability 1, and is exact.
//
// The number of digits that are read depends on the scores: see the package comment on running time.
type Race struct {
	src        *entropy.Source
	rate       *big.Rat // c, the factor of the scores
	down, up   float64  // bounds on c
	keep       int
	kept       []*runner // at most `keep` of them; a heap whose root has the largest time
	challenger runner    // the entrant being compared; a field, so that rejected entrants need no memory
	exactly    bool      // for tests: treat every comparison by floats as undecided
}

// runner is an entrant with bounds on its time. G, U and w are those of Race.
type runner struct {
	index     int64
	weight    uint64 // the weight w, or 0 if bigWeight holds it
	score     int64  // the score s, unless bigScore holds it
	bigWeight *big.Int
	bigScore  *big.Int
	early     float64  // a lower bound on G
	late      float64  // an upper bound on G
	word      uint64   // the first 64 digits of U
	digits    *big.Int // all known digits, as an integer; nil as long as only word has been used
	known     uint     // the number of known digits
}

// NewRace starts a race of rate c that stores only the leading entrants, at most `keep` of them. It panics if c is
// nil or negative, or if keep is below 1.
func NewRace(src *entropy.Source, c *big.Rat, keep int) *Race {
	if c == nil || c.Sign() < 0 || keep < 1 {
		panic("sample: a race needs a rate of at least 0 and at least one winner")
	}
	return &Race{src: src, rate: new(big.Rat).Set(c), down: exact.FloatDown(c), up: exact.FloatUp(c), keep: keep}
}

// Enter adds an entrant. It returns whether the entrant is among the first keep so far. If not, it never will be.
// An entrant of weight 0 never wins, and is ignored.
func (r *Race) Enter(index int64, weight uint64, score int64) bool {
	if weight == 0 {
		return false
	}
	r.challenger = runner{index: index, weight: weight, score: score}
	return r.run(weightBounds(weight))
}

// EnterBig is Enter for a weight and a score of any size. Neither may be nil. EnterBig panics if the weight is
// negative.
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

// EnterPower is Enter for the weight 2^k. It is faster than EnterBig for large k. Float bounds of 2^k are exact, so k must
// be below 1024.
func (r *Race) EnterPower(index int64, k uint, score int64) bool {
	if k < 64 {
		return r.Enter(index, 1<<k, score)
	}
	if k >= uint(len(twos)) {
		panic("sample: a weight in a race is above the largest float")
	}
	r.challenger = runner{index: index, bigWeight: twos[k], score: score}
	w := math.Ldexp(1, int(k))
	return r.run(w, w)
}

// twos are the powers of two below the largest float, which nothing changes.
var twos = func() (out [1024]*big.Int) {
	for k := range out {
		out[k] = new(big.Int).Lsh(bigOne, uint(k))
	}
	return out
}()

// Winners returns the indices of the first keep entrants, or of all entrants if there are fewer, in order of their
// times.
func (r *Race) Winners() []int64 {
	slices.SortFunc(r.kept, func(x, y *runner) int { // the largest time first, which keeps the heap property
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

// run draws the first digits of the challenger, and inserts it among the kept entrants if it is ahead of one of
// them. light and heavy are bounds on its weight.
//
// With m the first 53 digits of its U, U is in [m, m+1]/2⁵³. For most entrants, −ln U ≥ 1 − U shows that they are
// behind all kept ones.
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

// rise moves the newest entrant up the heap, past those with a smaller time.
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

// sink moves the root down the heap, past those with a larger time.
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
