package mechanism

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/privacy"
)

// outcome is a result of a run in tests: its score, and what else it says.
type outcome struct{ score, name int }

// bestLaw is what Best gives, by the definition: the sum over K of the probability that a run is the first of the best.
func bestLaw(gamma float64, q map[outcome]float64) map[outcome]float64 {
	out := map[outcome]float64{}
	for y, p := range q {
		less, equal := 0.0, 0.0
		for z, r := range q {
			switch {
			case z.score < y.score:
				less += r
			case z.score == y.score:
				equal += r
			}
		}
		// The sum over j is s of k, with s of k + 1 = (less + equal)·s + less^k.
		weight, sum, power := 1.0, 1.0, 1.0
		for k := 1; weight > 1e-13; k++ {
			weight *= 1 - gamma
			out[y] += p * sum * weight * gamma / (1 - gamma)
			power *= less
			sum = (less+equal)*sum + power
		}
	}
	return out
}

// Of random pairs of mechanisms that are ε-differentially private of each other, with ties among scores, the best costs 3ε at most, and for some of them more than 2ε: by enumeration.
func TestRepetitionLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	for range 200 {
		const epsilon = 0.5
		names := []outcome{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}}
		p, q := map[outcome]float64{}, map[outcome]float64{}
		// Two laws whose ratio is e^±ε: a part of the outcomes has more under one, and the others less.
		a, b := 0.0, 0.0
		up := map[outcome]bool{}
		for i, y := range names {
			p[y] = math.Pow(r.Float64(), 4) + 1e-4
			up[y] = r.IntN(2) == 0
			if i == len(names)-1 {
				up[y] = true
				p[y] /= 20
			}
		}
		total := 0.0
		for _, x := range p {
			total += x
		}
		for y := range p {
			if p[y] /= total; up[y] {
				a += p[y]
			} else {
				b += p[y]
			}
		}
		// Up by e^c, down so that they add up to 1, with both ratios within e^±ε.
		c := epsilon
		for ; (1-a*math.Exp(c))/b < math.Exp(-epsilon) && c > 0; c -= 0.01 {
		}
		if b == 0 || c <= 0 {
			continue
		}
		for y, x := range p {
			if q[y] = x * (1 - a*math.Exp(c)) / b; up[y] {
				q[y] = x * math.Exp(c)
			}
		}
		for _, gamma := range []float64{0.5, 0.1, 0.005} {
			one, other := bestLaw(gamma, p), bestLaw(gamma, q)
			sum := 0.0
			for y := range p {
				loss := math.Abs(math.Log(one[y] / other[y]))
				sum += one[y]
				if loss > 3*epsilon+1e-9 {
					t.Errorf("γ = %g: %v costs %g", gamma, y, loss)
				}
				worst = max(worst, loss/epsilon)
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("γ = %g: probabilities add up to %g", gamma, sum)
			}
		}
	}
	t.Logf("the best costs up to %.3f times what one does", worst)
	if worst < 2 {
		t.Errorf("the worst that was found costs %g ε: the test says little", worst)
	}
}

// K has its law: of 50,000 draws each number up to 8 comes as often as it should, or it fails with a probability below 1e-7 each; and Best gives what its law says.
func TestRepetitionDraws(t *testing.T) {
	for _, mean := range []float64{2, 30} {
		r, err := NewRepetition(mean)
		if err != nil || math.Abs(r.Mean()/mean-1) > 1e-3 {
			t.Fatal(r.Mean(), err)
		}
		gamma, _ := r.Gamma().Float64()
		const draws = 50_000
		src := entropy.System()
		counts := map[uint64]int{}
		for range draws {
			counts[r.draw(src)]++
		}
		for k := uint64(1); k <= 8; k++ {
			p := gamma * math.Pow(1-gamma, float64(k-1))
			if err := (stattest.Proportion{Successes: counts[k], Of: stattest.Binomial{Trials: draws, Probability: p}, FalseAlarm: 1e-8}).Check(); err != nil {
				t.Errorf("mean %g: %d: %v", mean, k, err)
			}
		}
		if p := r.Missed(0.3); p <= 0 || p >= 1 || math.Abs(r.Missed(0)-1) > 1e-9 || r.Missed(1) > 1e-9 {
			t.Errorf("%g", p)
		}
	}
	q := map[outcome]float64{{0, 0}: 0.5, {1, 0}: 0.2, {1, 1}: 0.2, {2, 0}: 0.1}
	r, err := NewRepetition(5)
	if err != nil {
		t.Fatal(err)
	}
	gamma, _ := r.Gamma().Float64()
	law, random, counts := bestLaw(gamma, q), rand.New(rand.NewPCG(5, 6)), map[outcome]int{}
	const draws = 20_000
	for range draws {
		y, err := Best(r, func() (outcome, *big.Int, error) {
			u := random.Float64()
			for _, y := range []outcome{{0, 0}, {1, 0}, {1, 1}, {2, 0}} {
				if u -= q[y]; u < 0 {
					return y, big.NewInt(int64(y.score)), nil
				}
			}
			return outcome{2, 0}, big.NewInt(2), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		counts[y]++
	}
	for y, p := range law {
		if err := (stattest.Proportion{Successes: counts[y], Of: stattest.Binomial{Trials: draws, Probability: p}, FalseAlarm: 1e-8}).Check(); err != nil {
			t.Errorf("%v: %v", y, err)
		}
	}
}

func TestRepetitionBadInput(t *testing.T) {
	for _, mean := range []float64{0, 1, -1, 1001, math.NaN(), math.Inf(1)} {
		if _, err := NewRepetition(mean); !errors.Is(err, ErrParameter) {
			t.Errorf("%g: %v", mean, err)
		}
	}
	if _, err := Best(Repetition{}, func() (int, *big.Int, error) { return 1, big.NewInt(1), nil }); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	r, _ := NewRepetition(3)
	if _, err := Best(r, func() (int, *big.Int, error) { return 1, nil, nil }); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	failed := errors.New("failed")
	if got, err := Best(r, func() (int, *big.Int, error) { return 7, big.NewInt(1), failed }); !errors.Is(err, failed) || got != 0 {
		t.Error(got, err)
	}
	if _, err := Candidate(0); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	one, err := privacy.ParseEpsilon("0.25")
	if err != nil || r.Loss(one).String() != "0.75" {
		t.Error(r.Loss(one))
	}
}
