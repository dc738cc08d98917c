package local

import (
	"math/big"
	"math/bits"

	"dither/local/internal/coin"
)

// hadamard is Hadamard response with several coefficients [Cormode, Maddock & Maple 2021; the form with one
// coefficient is that of Acharya, Sun & Zhang 2019]. Values are vectors of m = ⌈log₂ k⌉ bits. Each person draws t
// vectors r₁ … r_t of m bits, and sends them with the response to the t bits ⟨r_i, v⟩ mod 2, as one of 2^t values. A
// report supports the values that have the sent bits.
//
// Claim: hadamard is ε-differentially private between any two values. Proof: as for olh. The vectors are drawn
// without the value, and given the vectors the bits are a response. ∎
//
// Two different values differ in ⟨r, v⟩ with probability ½ for a uniform r, so they agree in all t bits with
// probability 2^−t, exactly.
type hadamard struct {
	response // k is 2^t
	m, t     int
}

// mostCoefficients limits t, because the time of adding a report grows as 2^t.
const mostCoefficients = 8

func newHadamard(p Params) scheme {
	// t = ⌈log₂(e^ε + 1)⌉ is the number of binary digits of ⌊e^ε⌋ + 1, since e^ε is no integer
	t := min(bits.Len64(coin.Floor(coin.Exp(p.Epsilon, 1, 1))+1), mostCoefficients)
	return hadamard{newResponse(1<<t, p.Epsilon), width(p.Values), t}
}

func (s hadamard) size() int                 { return s.t*s.m + s.t }
func (s hadamard) shared() float64           { return 0 }
func (s hadamard) sends([]byte) bool         { return true }
func (s hadamard) work(_, v float64) float64 { return v + float64(uint64(s.m)<<s.m) }
func (s hadamard) support() (p, q *big.Rat)  { return olh{s.response}.support() }
func (s hadamard) tally() tally              { return &spectrum{m: s.m, t: s.t, by: make([]int64, 1<<s.m)} }

func (s hadamard) randomize(c coin.Chooser, v uint64, report []byte) {
	cell := uint64(0)
	for i := range s.t {
		r := c.Below(1 << s.m)
		put(report, i*s.m, s.m, r)
		cell = cell<<1 | parity(r&v)
	}
	put(report, s.t*s.m, s.t, s.draw(c, cell))
}

// parity returns the sum of the bits, modulo 2.
func parity(x uint64) uint64 { return uint64(bits.OnesCount64(x) & 1) }

// spectrum is the tally of hadamard: the Walsh–Hadamard transform of the supports, times 2^t.
//
// For bits b_i, the value v is supported if ⟨r_i, v⟩ = b_i for all i. The indicator is 2^−t·Σ_S (−1)^(Σ_{i∈S} b_i +
// ⟨r_i, v⟩), over all subsets S of 1 … t. With r_S, the sum of the r_i in S modulo 2, the summand is a sign times
// (−1)^⟨r_S, v⟩. So a report adds the signs at the places r_S, and one transform gives the supports.
type spectrum struct {
	m, t int
	by   []int64
}

func (t *spectrum) add(report []byte) {
	answer := get(report, t.t*t.m, t.t)
	var places [1 << mostCoefficients]uint32
	var signs [1 << mostCoefficients]int64
	signs[0] = 1
	for i := range t.t {
		r, sign := uint32(get(report, i*t.m, t.m)), int64(1)
		if answer>>(t.t-1-i)&1 == 1 {
			sign = -1
		}
		for s := range 1 << i {
			places[1<<i|s], signs[1<<i|s] = places[s]^r, signs[s]*sign
		}
	}
	for s := range 1 << t.t {
		t.by[places[s]] += signs[s]
	}
}

func (t *spectrum) support(values []uint64) []int64 {
	all := append([]int64(nil), t.by...)
	transform(all)
	out := pick(all, values)
	for i := range out {
		out[i] >>= t.t // exact: a sum of indicators times 2^t
	}
	return out
}
func (t *spectrum) merge(other tally) { sum(t.by, other.(*spectrum).by) }

// transform replaces x by its Walsh–Hadamard transform. The length of x is a power of two.
func transform(x []int64) {
	for half := 1; half < len(x); half *= 2 {
		for i := 0; i < len(x); i += 2 * half {
			low, high := x[i:i+half], x[i+half:i+2*half]
			for j, a := range low {
				b := high[j]
				low[j], high[j] = a+b, a-b
			}
		}
	}
}

// hcms is the Hadamard count-mean sketch [Apple 2017]: a shared hash function maps the value to one of 1,024 cells,
// and the report is one random coefficient of the cell's Hadamard transform, a sign that is flipped with probability
// flip. A report supports the values whose cell has the sent sign at the coefficient.
//
// Claim: hcms is ε-differentially private between any two values. Proof: the function and the coefficient are drawn
// without the value. Given these, the report is one bit, which has either value with probability flip or 1 − flip,
// and flip is rounded up from 1/(e^ε + 1). ∎
type hcms struct {
	flip coin.Coin
	seed uint64
}

func newHCMS(p Params) scheme { return hcms{flip(p.Epsilon, 1), p.Seed} }

func (s hcms) size() int                 { return width(functions) + width(buckets) + 1 }
func (s hcms) shared() float64           { return sharedVariance(buckets) }
func (s hcms) sends([]byte) bool         { return true }
func (s hcms) work(_, v float64) float64 { return functions * v }
func (s hcms) ratio() *big.Rat           { return new(big.Rat).Quo(s.flip.Tails(), s.flip.Rat()) }
func (s hcms) tally() tally              { return &signs{seed: s.seed, by: make([]int64, functions*buckets)} }

// support has q between cells of ½: two different cells have the same sign in half of the coefficients.
func (s hcms) support() (p, q *big.Rat) { return throughCells(s.flip.Tails(), big.NewRat(1, 2)) }

func (s hcms) randomize(c coin.Chooser, v uint64, report []byte) {
	f, r := c.Below(functions), c.Below(buckets)
	sign := parity(r & publicHash(s.seed, f).cell(v, buckets))
	if c.Toss(s.flip) {
		sign ^= 1
	}
	put(report, 0, width(functions), f)
	put(report, width(functions), width(buckets), r)
	put(report, width(functions)+width(buckets), 1, sign)
}

// signs is the tally of hcms: by function and coefficient, the number of even signs minus that of odd ones.
type signs struct {
	seed uint64
	by   []int64
	n    int64
}

func (t *signs) add(report []byte) {
	at := get(report, 0, width(functions)+width(buckets))
	t.by[at] += 1 - 2*int64(get(report, width(functions)+width(buckets), 1))
	t.n++
}

// support: a report's indicator is (1 + sign·(−1)^⟨r, cell⟩)/2, so the supports are half the sum of the number of
// reports and of the transforms.
func (t *signs) support(values []uint64) []int64 {
	all := append([]int64(nil), t.by...)
	for f := range functions {
		transform(all[f*buckets : (f+1)*buckets])
	}
	out := table(t.seed, buckets, values, all)
	for i := range out {
		out[i] = (t.n + out[i]) / 2
	}
	return out
}

func (t *signs) merge(other tally) {
	o := other.(*signs)
	sum(t.by, o.by)
	t.n += o.n
}
