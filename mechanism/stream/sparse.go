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

// ErrEnded reports a query to a session, or a value for a stream, that has given all its answers.
var ErrEnded = errors.New("the session has ended")

// SparseVector tests each query of a sequence against the query's threshold. It stops after c = Positives queries
// that are above their thresholds [Dwork, Naor, Reingold, Rothblum & Vadhan 2009; in the form of Lyu, Su & Li 2017,
// Algorithm 7]. Queries below their threshold cost nothing.
//
// The thresholds share one noise ρ of scale Δ/ε₁. Each query gets fresh noise ν of scale 2cΔ/ε₂, or cΔ/ε₂ if the
// queries are monotonic. ε₁ + ε₂ = Epsilon. A query q with threshold T is above if q + ν ≥ T + ρ. If Gap is set, a
// query above also releases g = q + ν − (T + ρ) ≥ 0, at no further loss [Ding, Wang, Zhang & Kifer 2019]. If Value
// is ε₃ > 0, it also releases q + z, where z has scale cΔ/ε₃.
//
// Claim: a session is (Epsilon + Value)-differentially private, for queries and thresholds that are chosen
// adaptively. Proof: fix the answers a. Then the queries and thresholds are fixed too. Let |q′ − q| ≤ Δ for each
// query between neighbours. Given ρ, the answers are independent:
//
//	P(a) = Σ_ρ P(ρ) · ∏_{below} P(q + ν < T + ρ) · ∏_{above} P(q + ν ≥ T + ρ),
//
// with the event ν = T + ρ + g − q in place of the inequality if a contains the gap g. Match ρ with ρ + Δ. Since Δ
// is an integer, P(ρ) ≤ exp(ε₁)·P(ρ + Δ). For a query below, q + ν < T + ρ implies q′ + ν < T + (ρ + Δ). For a
// query above, match ν with ν + Δ − (q′ − q). This keeps q + ν − ρ, hence the inequality and the gap. The match
// shifts ν by an integer in [0, 2Δ], which costs a factor of at most exp(2Δ·ε₂/(2cΔ)) = exp(ε₂/c). There are at
// most c such factors.
//
// If the queries are monotonic and q′ ≥ q, the shift is in [0, Δ], so half the scale suffices. If q′ ≤ q, match ρ
// with itself. Queries below stay below, and ν is matched with ν + (q − q′), again a shift in [0, Δ]. Summing over
// all integers ρ gives P(a) ≤ exp(ε₁ + ε₂)·P′(a). The values are separate measurements with their own noise: at
// most c of them, each of loss ε₃/c. ∎ The noise is drawn exactly, with rational scales, so no step of the argument
// is rounded.
//
// Three things are necessary: the noise on queries, the factor c of its scale, and the end after c positives.
// Published variants that lack one of them have no finite loss, or a larger loss than they state [Lyu, Su & Li
// 2017].
type SparseVector struct {
	// the most that one query changes between neighbours, in the queries' unit; at least 1
	Sensitivity *big.Int
	Monotonic   bool            // between neighbours, no two queries change in opposite directions
	Epsilon     privacy.Epsilon // ε₁ + ε₂, for the comparisons with thresholds
	Value       privacy.Epsilon // ε₃, for the values of queries above; 0 releases no values
	Gap         bool            // release the gaps of queries above
	Positives   int             // c, the number of queries above that end the session; at least 1
}

// maxPositives limits Positives, so that the integers in SparseVector.Split stay small.
const maxPositives = 1 << 30

// SparseAnswer is the answer of a SparseSession to one query.
type SparseAnswer struct {
	Above bool
	// a lower bound on how far the noisy query exceeds the noisy threshold; nil if the query is below, or if
	// SparseVector.Gap is not set
	Gap *big.Int
	// the query plus noise of SparseSession.ValueNoise; nil if the query is below, or if SparseVector.Value is 0
	Value *big.Int
}

// SparseSession is a session of SparseVector. It must not be used concurrently. Printing one shows only that it
// exists.
type SparseSession struct {
	threshold *big.Int // ρ, the noise of the thresholds
	left      int
	gap       bool
	loss      privacy.Loss
	noise     sparseNoise
}

// Format writes a fixed text, for every verb, so that printing reveals nothing.
func (*SparseSession) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedSession) }

const redactedSession = "[session]"

// sparseNoise holds the noise distributions of thresholds, queries and values. value is nil if the session releases
// no values.
type sparseNoise struct {
	threshold, query noise.DiscreteLaplace
	value            *noise.DiscreteLaplace
}

// Begin starts a session and draws the thresholds' noise. From then on the session's loss is spent, whatever
// queries follow. It returns ErrParameter if the parameters give no privacy, or if the noise would be too large to
// draw.
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

// Split returns ε₁ and ε₂, whose sum is exactly Epsilon. Their ratio is near 1 : (2c)^⅔, or 1 : c^⅔ if the queries
// are monotonic. This ratio minimises the variance of ν − ρ, the noise of a query minus the noise of the thresholds
// [Lyu, Su & Li 2017].
func (m SparseVector) Split() (threshold, queries privacy.Epsilon, err error) {
	if m.Positives < 1 || m.Positives > maxPositives {
		return threshold, queries, fmt.Errorf("%w: the number of positives of a session must be from 1 to %d, not %d",
			mechanism.ErrParameter, maxPositives, m.Positives)
	}
	many := int64(m.Positives)
	if !m.Monotonic {
		many *= 2
	}
	ratio := cubeRoot(new(big.Int).Mul(big.NewInt(many*many), big.NewInt(1e9))) // ε₂/ε₁ in thousandths
	threshold = m.Epsilon.Share(1000, 1000+ratio)
	return threshold, m.Epsilon.Minus(threshold), nil
}

// cubeRoot returns the cube root of x, rounded down, for 0 < x < 2¹⁸⁰.
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

// Noise returns the noise distributions of a session: of the thresholds (drawn once), of each query, and of each
// value. value is nil if the session releases no values. The error is ErrParameter, as for Begin.
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

// Ask reports whether a query is above a public threshold. A nil threshold means 0. After the last positive it
// returns ErrEnded.
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

// Left returns how many positives remain. At 0 the session has ended.
func (s *SparseSession) Left() int { return s.left }

// Loss returns the loss of the whole session, which is charged when the session begins.
func (s *SparseSession) Loss() privacy.Loss { return s.loss }

// Noise returns the noise distributions of the thresholds (drawn once) and of each query.
func (s *SparseSession) Noise() (threshold, query noise.DiscreteLaplace) {
	return s.noise.threshold, s.noise.query
}

// ValueNoise returns the noise distribution of each value. ok is false if the session releases no values.
func (s *SparseSession) ValueNoise() (value noise.DiscreteLaplace, ok bool) {
	if s.noise.value == nil {
		return value, false
	}
	return *s.noise.value, true
}

// Accuracy returns a bound α on the errors of the given number of first answers. With probability at least 1 −
// beta, it holds for all of them. With threshold T, a query that is reported above is at least T − α, and a query
// that is reported below is less than T + α. Proof: let ρ and ν be the noises of [SparseVector]. α = a + b, where
// |ρ| > a with probability at most β/2, and some |ν| > b with probability at most β/2.
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
