package stream

import (
	"errors"
	"fmt"
	"io"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// ErrEnded reports a query to a session that has given all its answers.
var ErrEnded = errors.New("the session has ended")

// SparseVector answers each of a sequence of queries with whether it is above its threshold, and stops after Positives
// that are [Dwork, Naor, Reingold, Rothblum & Vadhan 2009; in the form of Lyu, Su & Li 2017, Algorithm 7]. Queries
// below their threshold cost nothing.
//
// The threshold is noised once, by ρ of scale Δ/ε₁; each query afresh, by ν of scale 2cΔ/ε₂, or cΔ/ε₂
// where queries are monotonic; c is Positives, and ε₁ + ε₂ = Epsilon. A query q with threshold T is above where q
// + ν ≥ T + ρ. With Gap, what is above comes with g = q + ν − (T + ρ) ≥ 0, at no further loss [Ding, Wang,
// Zhang & Kifer 2019]; with a Value ε₃, with q + z as well, z of scale cΔ/ε₃.
//
// A session is (Epsilon + Value)-differentially private, for queries and thresholds that are chosen one after another
// with a view of the answers before. Proof: fix the answers a; then queries and thresholds are fixed too. Let |q′ −
// q| ≤ Δ for each between neighbours. For a given ρ the answers are independent,
//
//	P(a) = Σ_ρ P(ρ) · ∏_{below} P(q + ν < T + ρ) · ∏_{above} P(q + ν ≥ T + ρ),
//
// with ν = T + ρ + g − q in place of the inequality where a tells the gap. Match ρ with ρ + Δ: P(ρ) ≤
// exp(ε₁)·P(ρ + Δ), since Δ is an integer. For those below, q + ν < T + ρ implies q′ + ν < T + (ρ + Δ).
// For those above, ν is matched with ν + Δ − (q′ − q), which keeps q + ν − ρ and so the inequality, and
// the gap, as they are: a shift by an integer in [0, 2Δ], for a factor of at most exp(2Δ·ε₂/(2cΔ)) =
// exp(ε₂/c), c times at most. Where queries are monotonic and q′ ≥ q, the shift is in [0, Δ], and the scale may
// be halved; where q′ ≤ q, ρ is matched with itself: those below stay so, and ν is matched with ν + (q −
// q′), again a shift in [0, Δ]. Summing over ρ, which runs over all integers, P(a) ≤ exp(ε₁ + ε₂)·P′(a).
// The values are measurements with noise of their own, of loss ε₃/c each, c at most. ∎ Noise is drawn exactly,
// with rational scales: nothing in the argument is rounded.
//
// The noise on queries, the factor c of its scale, and the end after c positives are all necessary: published variants
// without one of them have no finite loss, or a larger one than they state [Lyu, Su & Li 2017].
type SparseVector struct {
	// the most by which a query changes between neighbours, in the queries' unit; at least 1
	Sensitivity *big.Int
	Monotonic   bool            // between neighbours, no two queries change in opposite directions
	Epsilon     privacy.Epsilon // ε₁ + ε₂, for the comparisons with thresholds
	Value       privacy.Epsilon // ε₃, for the values of queries above; 0 for none
	Gap         bool            // release the gaps of queries above
	Positives   int             // c: the session ends after this many queries above; at least 1
}

// maxPositives keeps the arithmetic of shares small.
const maxPositives = 1 << 30

// SparseAnswer is a session's answer to a query.
type SparseAnswer struct {
	Above bool
	// the least by which the noisy query exceeds the noisy threshold; nil if below, or without Gap
	Gap   *big.Int
	Value *big.Int // the query with noise of SparseSession.ValueNoise; nil if below, or without Value
}

// SparseSession is a session of SparseVector. Only one goroutine may use it. Printing it in any way shows only that it
// exists.
type SparseSession struct {
	threshold *big.Int // ρ
	left      int
	gap       bool
	loss      privacy.Loss
	noise     sparseNoise
}

// Format reveals nothing, whatever the verb.
func (*SparseSession) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedSession) }

const redactedSession = "[session]"

// sparseNoise is the noise of threshold, queries and values; the last is nil without Value.
type sparseNoise struct {
	threshold, query noise.DiscreteLaplace
	value            *noise.DiscreteLaplace
}

// Begin draws the threshold's noise. Parameters that give no privacy, or need more noise than can be drawn, are
// ErrParameter. From here on the session's loss is spent, whatever it is asked.
func (m SparseVector) Begin() (*SparseSession, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.begin(source)
}

func (m SparseVector) begin(src *entropy.Source) (*SparseSession, error) {
	n, err := m.noise()
	if err != nil {
		return nil, err
	}
	return &SparseSession{
		threshold: sample.DiscreteLaplace(src, n.threshold.Scale()),
		left:      m.Positives, gap: m.Gap, noise: n,
		loss: privacy.PureLoss(m.Epsilon.Plus(m.Value)),
	}, nil
}

// Split is ε₁ and ε₂, which make Epsilon exactly. They are near 1 : (2c)^⅔, or 1 : c^⅔ where queries are
// monotonic, at which the variance of ν − ρ is least [Lyu, Su & Li 2017].
func (m SparseVector) Split() (threshold, queries privacy.Epsilon, err error) {
	if m.Positives < 1 || m.Positives > maxPositives {
		return threshold, queries, fmt.Errorf("%w: a session of %d positives", mechanism.ErrParameter, m.Positives)
	}
	many := int64(m.Positives)
	if !m.Monotonic {
		many *= 2
	}
	ratio := cubeRoot(new(big.Int).Mul(big.NewInt(many*many), big.NewInt(1e9))) // in thousandths
	threshold = m.Epsilon.Share(1000, 1000+ratio)
	return threshold, m.Epsilon.Minus(threshold), nil
}

// cubeRoot is the integer cube root of a positive integer below 2¹⁸⁰.
func cubeRoot(x *big.Int) int64 {
	low, high := int64(0), int64(1)<<60 // low³ ≤ x < high³
	for cube := new(big.Int); high-low > 1; {
		middle := low + (high-low)/2
		if cube.Exp(big.NewInt(middle), big.NewInt(3), nil).Cmp(x) <= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// Noise is the noise of a session before it begins: of the threshold, once, of each query, and of each value, which is
// nil without Value. The error is ErrParameter, as for Begin.
func (m SparseVector) Noise() (threshold, query noise.DiscreteLaplace, value *noise.DiscreteLaplace, err error) {
	n, err := m.noise()
	if err != nil {
		return threshold, query, nil, err
	}
	return n.threshold, n.query, n.value, nil
}

func (m SparseVector) noise() (n sparseNoise, err error) {
	first, second, err := m.Split()
	if err != nil {
		return n, err
	}
	if n.threshold, err = parameter.SelectionNoise(m.Sensitivity, true, first, 1); err != nil {
		return n, err
	}
	if n.query, err = parameter.SelectionNoise(m.Sensitivity, m.Monotonic, second, m.Positives); err != nil {
		return n, err
	}
	if !m.Value.IsZero() {
		value, err := parameter.SelectionNoise(m.Sensitivity, true, m.Value, m.Positives)
		if err != nil {
			return n, err
		}
		n.value = &value
	}
	return n, nil
}

// Ask returns whether a query is above a public threshold; nil stands for 0. After the last positive it returns
// ErrEnded.
func (s *SparseSession) Ask(query mechanism.Exact, threshold *big.Int) (SparseAnswer, error) {
	source := entropy.System()
	defer source.Wipe()
	return s.ask(source, query, threshold)
}

func (s *SparseSession) ask(src *entropy.Source, query mechanism.Exact, threshold *big.Int) (SparseAnswer, error) {
	if s == nil || s.left <= 0 {
		return SparseAnswer{}, ErrEnded
	}
	q := opaque.Open(query)
	gap := sample.DiscreteLaplace(src, s.noise.query.Scale())
	gap.Add(gap, q).Sub(gap, s.threshold)
	if threshold != nil {
		gap.Sub(gap, threshold)
	}
	if gap.Sign() < 0 {
		return SparseAnswer{}, nil
	}
	answer := SparseAnswer{Above: true}
	if s.gap {
		answer.Gap = gap
	}
	if s.noise.value != nil {
		z := sample.DiscreteLaplace(src, s.noise.value.Scale())
		answer.Value = z.Add(z, q)
	}
	if s.left--; s.left == 0 {
		s.threshold = nil
	}
	return answer, nil
}

// Left is how many positives remain. At 0 the session has ended.
func (s *SparseSession) Left() int { return s.left }

// Loss is the price of the whole session, spent at its beginning.
func (s *SparseSession) Loss() privacy.Loss { return s.loss }

// Noise is the noise of the threshold, once, and of each query.
func (s *SparseSession) Noise() (threshold, query noise.DiscreteLaplace) {
	return s.noise.threshold, s.noise.query
}

// ValueNoise is the noise of each value; ok is false without Value.
func (s *SparseSession) ValueNoise() (value noise.DiscreteLaplace, ok bool) {
	if s.noise.value == nil {
		return value, false
	}
	return *s.noise.value, true
}

// Accuracy bounds, with probability at least 1 − beta for the first so many queries together, how far an answer is
// off: of threshold T, what is told to be above is at least T − α, and what is told to be below is below T + α.
// Proof: α = a + b, where |ρ| > a with probability at most β/2, and some |ν| > b with probability at most β/2.
func (m SparseVector) Accuracy(queries int, beta float64) (*big.Int, error) {
	n, err := m.noise()
	if err != nil {
		return nil, err
	}
	if err := parameter.Probability(beta); err != nil {
		return nil, err
	}
	half := exact.DivDown(beta, 2)
	a, err := parameter.Simultaneous(n.threshold, 1, half)
	if err != nil {
		return nil, err
	}
	b, err := parameter.Simultaneous(n.query, queries, half)
	if err != nil {
		return nil, err
	}
	return a.Add(a, b), nil
}
