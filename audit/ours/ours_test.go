package ours

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"dither/account"
	"dither/audit"
	"dither/audit/channel"
	"dither/internal/exact"
	"dither/internal/expsum"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/partition"
	"dither/mechanism/stream"
	"dither/privacy"
)

// ours are the subjects, and both those and their variants, whose laws are made once.
var (
	ours = All()
	both = append(variants(), ours...)
)

// named is one of ours.
func named(name string) Subject {
	return ours[slices.IndexFunc(ours, func(s Subject) bool { return s.Name == name })]
}

// draws returns the outputs of many runs of Draw.
func (s Subject) draws(input, runs int) (outputs []string, err error) {
	if s.domain.many != nil {
		return s.domain.many(input, runs)
	}
	for range runs {
		output, err := s.Draw(input)
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, output)
	}
	return outputs, nil
}

// drawsLaw returns the law of draws: the subject's law or, if certified sums check the claim, the probabilities that
// these are of.
func (s Subject) drawsLaw() (*Law, error) {
	if s.law != nil {
		return s.law()
	}
	return s.near()
}

// long says whether there is time for many draws.
var long = os.Getenv("DITHER_LONG") != ""

// falseAlarm is the rate of all statistical checks of one test together.
const falseAlarm = 1e-6

// variants are other parameters of the same mechanisms, which the program does not list.
func variants() []Subject {
	one, half, two := epsilonOf(1, 1), epsilonOf(1, 2), big.NewInt(2)
	wider, monotonic := scores{", sensitivity 2", 2, false}, scores{", monotonic", 1, true}
	changed := mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 1}
	of := func(neighbours privacy.Neighbours, rows int64) mechanism.Unit {
		return mechanism.Unit{Neighbours: neighbours, MaxRows: rows}
	}
	keys := partition.Parameters{Epsilon: one, Delta: deltaOf(1, 10), Keys: 2}
	return []Subject{
		staircase("staircase, squared", true), tulap("tulap, δ", deltaOf(1, 20)),
		tulap("tulap, large δ", deltaOf(1, 3)),
		exponential(wider), exponential(monotonic), permuteAndFlip(wider), permuteAndFlip(monotonic), noisyMax(wider),
		noisyMax(monotonic),
		topExponential(wider), topExponential(monotonic),
		sparseSubject("sparse-vector, plain", "", 2,
			stream.SparseVector{Sensitivity: big.NewInt(1), Epsilon: one, Positives: 1}),
		sparseSubject("sparse-vector, monotonic", "", 2,
			stream.SparseVector{Sensitivity: big.NewInt(1), Monotonic: true, Epsilon: one, Positives: 1}),
		sparseSubject("sparse-vector, two", "", 2, stream.SparseVector{Sensitivity: two, Epsilon: one, Positives: 2}),
		sparseSubject("sparse-vector, two monotonic", "", 2,
			stream.SparseVector{Sensitivity: two, Monotonic: true, Epsilon: one, Positives: 2}),
		sparseSubject("sparse-vector-values, two", "", 1,
			stream.SparseVector{Sensitivity: big.NewInt(1), Epsilon: half, Value: half, Positives: 2}),
		oneQuantile("quantile, change-one", changed), oneQuantile("quantile, two rows", of(privacy.AddRemove, 2)),
		oneQuantile("quantile, two changed", of(privacy.ChangeOne, 2)),
		smoothSubject("smooth, change-one", "", changed, 2),
		smoothSubject("smooth, two rows", "", of(privacy.AddRemove, 2), 2),
		partitionSelection("partition-selection, two keys", keys, 4),
		partitionCounts("partition-counts, two keys", keys, 3),
		thresholdLaplace("threshold-laplace, two keys", 2, 3),
	}
}

// Every law is within what its mechanism declares, over all neighbours of its domain; and reaches it where the list
// says so. The others are below: the exponential mechanism's ratio e^ε is that of unboundedly many candidates (with n
// it is ((n − 1)e^ε + 1)/n where all but one move), and so for whatever is built on it; the order of several noisy
// scores has it with unboundedly many candidates too, and the sparse vector with unboundedly many queries; sums of a
// loss per step or rank assume that one person is in the worst place of each; the scale that smooth sensitivity gives
// is worst in the tails, which the domain's ends cut off; and thresholds are whole numbers.
func TestDeclaredLosses(t *testing.T) {
	attained := []string{
		"laplace", "cube", "staircase", "tulap", "counting-tree", "quantile-tree", "automatic-bounds", "randomized-response",
		"category-response",
		"permute-and-flip", "noisy-max", "partition-selection",
		"staircase, squared", "tulap, δ", "tulap, large δ", "permute-and-flip, monotonic", "noisy-max, sensitivity 2",
		"noisy-max, monotonic",
	}
	for _, s := range both {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if s.Err() != nil {
				t.Errorf("%s: %v", s.Name, s.Err())
				return
			}
			x, ok, err := s.Exact()
			if err != nil {
				t.Errorf("%s: %v", s.Name, err)
				return
			}
			if !ok {
				t.Errorf("%s has no law", s.Name)
				return
			}
			words := fmt.Sprintf("δ from %.12g to %.12g", x.DeltaLower, x.DeltaUpper)
			if x.Loss != nil && s.Claim.Delta.IsZero() {
				words = fmt.Sprintf("ε from %.12g to %.12g: %s", x.Loss.Lower, x.Loss.Upper, x.Loss.Exact)
			}
			t.Logf("%-30s declares (%s, %s); %s; attained %v", s.Name, s.Claim.Epsilon, s.Claim.Delta,
				words, x.Attained)
			if !x.Holds || x.Fails {
				t.Errorf("%s: the declared loss is too small", s.Name)
			}
			if want := slices.Contains(attained, s.Name); x.Attained != want {
				t.Errorf("%s: attained %v, want %v", s.Name, x.Attained, want)
			}
		})
	}
}

// A claim that is too small is told, by however little.
func TestSmallerClaimsFail(t *testing.T) {
	for _, s := range ours {
		x, ok, err := s.Exact()
		if err != nil || !ok {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		least := s.Claim
		if s.Claim.Delta.IsZero() {
			r := new(big.Rat).SetFloat64(x.Loss.Lower * (1 - 1e-9))
			least.Epsilon, err = privacy.EpsilonOf(r)
		} else {
			least.Delta, err = privacy.DeltaOf(new(big.Rat).SetFloat64(x.DeltaLower * (1 - 1e-9)))
		}
		if err != nil {
			t.Fatal(err)
		}
		smaller := s
		smaller.Claim = least
		if y, _, err := smaller.Exact(); err != nil || y.Holds || !y.Fails {
			t.Errorf("%s is said to keep (%s, %s): %v", s.Name, least.Epsilon, least.Delta, err)
		}
	}
}

// drawnAgainst draws from a subject on an input, and compares with a row of a law.
func drawnAgainst(s Subject, law *Law, input, row, runs int, falseAlarm float64) error {
	p, err := law.Probabilities(row)
	if err != nil {
		return err
	}
	observed := make([]int, len(p))
	outputs, err := s.draws(input, runs)
	if err != nil {
		return err
	}
	for _, output := range outputs {
		j, err := law.Column(output)
		if err != nil {
			return err
		}
		observed[j]++
	}
	for j, n := range observed {
		if p[j] == 0 && n > 0 {
			return fmt.Errorf("%q is impossible, and was drawn", law.Matrix.Outputs()[j])
		}
	}
	// Merged to cells of 25 or more, which is what χ² needs; where that leaves one, its complement is rare, and a
	// binomial.
	if j := slices.Index(p, slices.Max(p)); float64(runs)*(1-p[j]) < 50 {
		return stattest.Proportion{
			Successes: observed[j], Of: stattest.Binomial{Trials: runs, Probability: p[j]},
			FalseAlarm: falseAlarm,
		}.Check()
	}
	return stattest.ChiSquared{Observed: observed, Expected: p, FalseAlarm: falseAlarm}.Check()
}

// The mechanisms have these laws, as far as so many draws tell. Samplers that take long get fewer.
func TestLawsAreTheMechanisms(t *testing.T) {
	slow := []string{"staircase", "staircase, squared", "tulap, δ", "tulap, large δ", "joint-quantiles"}
	for i, s := range both {
		runs, inputs := 3000, s.domain.pair[:]
		if i < len(both)-len(ours) { // a variant
			runs = 1000
		}
		if slices.Contains(slow, s.Name) {
			runs = 400
		}
		if strings.HasPrefix(s.Name, "threshold") || strings.HasPrefix(s.Name, "partition") {
			// hardly any of few units are kept
			inputs = append(inputs, len(s.domain.inputs)-1)
		}
		if long {
			runs, inputs = 20_000, nil
			for i := range s.domain.inputs {
				inputs = append(inputs, i)
			}
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			law, err := s.drawsLaw()
			if err != nil {
				t.Fatal(err)
			}
			for _, input := range inputs {
				// A hundredth of the rate, since far out the χ² of cells of 25 is off by some factor.
				if err := drawnAgainst(s, law, input, input, runs,
					falseAlarm/100/float64(len(both)*len(inputs))); err != nil {
					t.Errorf("of %s: %v", s.domain.inputs[input], err)
				}
			}
		})
	}
}

// And that can fail: draws of one side are not of the other side's law.
func TestOtherLawsAreNot(t *testing.T) {
	for _, name := range []string{
		"laplace", "staircase", "tulap", "automatic-bounds", "randomized-response",
		"exponential", "permute-and-flip", "noisy-max",
	} {
		s := named(name)
		law, known, err := s.Law()
		if err != nil || !known {
			t.Fatal(name, err)
		}
		if a, b := s.domain.pair[0], s.domain.pair[1]; drawnAgainst(s, law, a, b, 1000, falseAlarm) == nil {
			t.Errorf("%s: draws of %s pass for those of %s", s.Name, s.domain.inputs[a], s.domain.inputs[b])
		}
	}
}

// Audits of runs refute none of ours, at a confidence at which a refutation is no accident; and they do refute a third
// of what is declared where so few runs can tell.
func TestOursAreNotRefuted(t *testing.T) {
	runs := 100
	if long {
		runs = 20_000
	}
	run := func(s Subject, runs int) *audit.Report {
		o := audit.Options{Runs: runs, Claim: &s.Claim, Confidence: 1 - falseAlarm/float64(len(ours))}
		r, err := audit.Run(t.Context(), s.Run(), o)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if strings.Contains(fmt.Sprint(r.Findings), "error:") {
			t.Errorf("%s gives errors", s.Name)
		}
		return r
	}
	for _, s := range ours {
		r := run(s, runs)
		if r.Verdict != audit.NotRefuted {
			t.Errorf("%s: %v: %+v", s.Name, r.Verdict, r.Findings)
		}
		t.Logf("%-22s ε ≥ %.4f of %s; %d runs could tell %.2f", s.Name, r.Epsilon, s.Claim.Epsilon, runs, r.Reach)
	}
	for _, name := range []string{"randomized-response"} {
		s := named(name)
		s.Claim.Epsilon = s.Claim.Epsilon.Share(1, 3)
		if r := run(s, 2000); r.Verdict != audit.Refuted {
			t.Errorf("%s: a third of its ε is %v", name, r.Verdict)
		}
	}
}

// The certified sums of Gaussian noise agree with the accountant's, which has them by other formulas, at each shift by
// itself: the discrete Gaussian's δ(ε) exactly, and the rounded one's at most the continuous one's, of which it is
// post-processing.
func TestGaussianDeltas(t *testing.T) {
	const tails = 1e-24 // what is beyond the reach has less, and is counted with the upper bounds
	for _, variance := range []*big.Rat{big.NewRat(1, 1), big.NewRat(37, 3)} {
		discrete, rounded := discreteGaussian(variance), roundedGaussian(variance)
		for _, e := range []privacy.Epsilon{epsilonOf(1, 10), epsilonOf(1, 1), epsilonOf(3, 1)} {
			for shift := int64(1); shift <= 3; shift++ {
				lower, upper := discrete.shifted(e, shift)
				below, above := account.DiscreteGaussianDelta(variance, big.NewInt(shift), e)
				if !(lower <= above*(1+1e-12) && below <= upper*(1+1e-12)) || upper-lower > 1e-12*upper+tails {
					t.Errorf("discrete, σ² = %s, %s, by %d: δ from %g to %g, accounted for from %g to %g",
						variance, e, shift, lower, upper, below, above)
				}
				_, upper = rounded.shifted(e, shift)
				mu2 := new(big.Rat).Quo(big.NewRat(shift*shift, 1), variance)
				if _, above := account.GaussianDelta(mu2, e); upper > above*(1+1e-12)+tails {
					t.Errorf("rounded, σ² = %s, %s, by %d: δ up to %g, accounted for at most %g",
						variance, e, shift, upper, above)
				}
			}
		}
	}
	lower, upper := discreteGaussian(big.NewRat(1, 1)).shifted(epsilonOf(1, 1), 1)
	if math.Abs(lower-.14135133940562) > 1e-13 || upper < lower { // by mpmath
		t.Errorf("σ = 1, ε = 1: δ from %.15f to %.15f", lower, upper)
	}
}

// The Rényi divergences of discrete Gaussian noise, by certified sums, are at most ρα, and at whole orders no less
// [Canonne, Kamath & Steinke 2020, Proposition 5].
func TestGaussianRenyi(t *testing.T) {
	for _, s := range []struct {
		m      mechanism.Gaussian
		shifts []int64
	}{
		{mechanism.Gaussian{L2Squared: big.NewInt(4), Rho: rhoOf(2)}, []int64{1, 2}},
		{mechanism.Gaussian{L2Squared: big.NewInt(1), Rho: rhoOf(8)}, []int64{1}},
	} {
		sigma2, err := s.m.Sigma2()
		if err != nil {
			t.Fatal(err)
		}
		noise := discreteGaussian(sigma2)
		for _, alpha := range []*big.Rat{big.NewRat(5, 4), big.NewRat(2, 1), big.NewRat(8, 1)} {
			for _, shift := range s.shifts {
				total := whole(0)
				for y := int64(-gaussianReach) + shift; y <= gaussianReach; y++ { // p^α·q^(1−α)
					p, q := noise.mass(y).Log(), noise.mass(y-shift).Log()
					a := exact.IntervalOf(alpha, gaussianBits)
					total = total.Add(a.Mul(p).Add(whole(1).Sub(a).Mul(q)).Exp())
				}
				less := new(big.Rat).Sub(alpha, big.NewRat(1, 1))
				lower, upper := total.Log().Quo(exact.IntervalOf(less, gaussianBits)).Floats()
				r := new(big.Rat).Mul(alpha, s.m.Rho.Rat())
				r.Mul(r, big.NewRat(shift*shift, 1)).Quo(r, new(big.Rat).SetInt(s.m.L2Squared))
				want, _ := r.Float64()
				if upper > want*(1+1e-12) || alpha.IsInt() && lower < want*(1-1e-12) {
					t.Errorf("σ² = %s, order %s, by %d: from %.15g to %.15g, want %.15g",
						sigma2, alpha, shift, lower, upper, want)
				}
			}
		}
	}
}

// The two sides that are run are the worst pair of the domain: that of the law's witness, or one as bad.
func TestSidesAreTheWorst(t *testing.T) {
	for _, s := range ours {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			law, ok, err := s.Law()
			if err != nil || !ok {
				return
			}
			claim := s.Claim
			all, err := law.check(claim)
			if err != nil {
				t.Fatal(err)
			}
			pair := newLaw(law.Matrix, [][2]int{s.domain.pair})
			pair.Limits, pair.Folded, pair.Rounded = law.Limits, law.Folded, law.Rounded
			one, err := pair.check(claim)
			if err != nil {
				t.Fatal(err)
			}
			if claim.Delta.IsZero() && one.Loss.Upper < all.Loss.Lower || one.DeltaUpper < all.DeltaLower {
				w := all.Loss.Witness
				t.Errorf("%s: %s and %s have ε %g, δ %g; %s and %s %g, %g", s.Name, s.Sides[0], s.Sides[1],
					one.Loss.Upper, one.DeltaUpper, w.Input, w.Neighbor, all.Loss.Lower, all.DeltaLower)
			}
		})
	}
}

// The limits are those of the ratios: at a gap that is large the chances of the inputs are nearly in the limits'
// proportion. And nothing between is above them: with more gaps told apart the smallest ε is nearer to that of the
// matrix and the limits together.
func TestLimits(t *testing.T) {
	near := func(name string, limit Limit, inputs int, at func(c *calc, i int) *expsum.Number) {
		t.Helper()
		c := new(calc)
		sums := [2]*expsum.Number{c.rat(0, 1), c.rat(0, 1)}
		var far []*expsum.Number
		for i := range inputs {
			far = append(far, at(c, i))
			sums[0], sums[1] = c.add(sums[0], limit.At[i]), c.add(sums[1], far[i])
		}
		for i := range inputs {
			want, _ := c.quo(limit.At[i], sums[0]).Floats()
			got, _ := c.quo(far[i], sums[1]).Floats()
			if c.err != nil || math.Abs(got-want) > want/20 {
				t.Errorf("%s, input %d, %s: the share is %g far out, and %g in the limit; %v",
					name, i, limit.Output, got, want, c.err)
			}
		}
	}
	g := geometric{big.NewRat(1, 2)}
	two, names, pairs := plainScores.lists(2)
	near("noisy-max", g.limits(new(calc), two, 1)[0], len(two), func(c *calc, i int) *expsum.Number {
		return g.differences(c, two[i][1]-120, two[i][0]) // the second one first
	})
	three, _ := vectors(3, 0, 1)
	for k, gaps := range [][2]int64{{24, 24}, {24, 0}, {0, 24}, {24, 1}, {1, 24}} {
		near("noisy-top", g.limits(new(calc), three, 2)[k], len(three), func(c *calc, i int) *expsum.Number {
			u, order := three[i], permutations(3)[0]
			o := [3]int64{}
			for r := 2; r >= 0; r-- {
				if r < 2 {
					o[r] = o[r+1] - u[order[r+1]] - gaps[r]
					if order[r+1] < order[r] {
						o[r]--
					}
				}
				o[r] += u[order[r]]
			}
			return g.differences(c, o[:]...)
		})
	}
	v := sparseNoises(stream.SparseVector{
		Sensitivity: big.NewInt(1), Epsilon: epsilonOf(1, 1), Gap: true,
		Positives: 1,
	})
	queries, _ := vectors(2, 0, 1)
	for k, limit := range v.limits(new(calc), queries) {
		near("sparse-vector", limit, len(queries), func(c *calc, i int) *expsum.Number {
			var answers []factor
			for _, q := range queries[i][:k] {
				answers = append(answers, v.below(q))
			}
			return v.chance(c, 2, append(answers, mass{v.query, queries[i][k] - sparseAt - 80})...)
		})
	}
	before := 0.0
	for _, most := range []int64{2, 6, 14} {
		l, err := g.rankingLaw(names, pairs, two, most, 1)
		if err != nil {
			t.Fatal(err)
		}
		told, err := l.Matrix.Epsilon(channel.Pairs(pairs))
		if whole, err2 := l.smallest(); err != nil || err2 != nil || whole.Upper < 1 ||
			!(before < told.Lower && told.Upper < 1) {
			t.Errorf("noisy-max with gaps to %d: ε %g, %v", most, told.Upper, err)
		}
		before = told.Upper
	}
}
