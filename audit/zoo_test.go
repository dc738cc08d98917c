package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// member is a mechanism that breaks its promise, with the promise, and two datasets that show it.
type member struct {
	name           string
	epsilon, delta string
	runs           int
	run            func(r *rand.Rand, side Side) string
	long           bool // it takes many runs
}

// source makes a mechanism of a member, whose noise is the same in each test run.
func (m member) mechanism(seed uint64) Func {
	r := rand.New(rand.NewPCG(seed, 1))
	return func(side Side) string { return m.run(r, side) }
}

// laplace is continuous Laplace noise as it is drawn naively: by the inverse of its distribution function, in floats.
func laplace(r *rand.Rand, scale float64) float64 {
	u := r.Float64() - 0.5
	return -scale * math.Copysign(math.Log(1-2*math.Abs(u)), u)
}

// text writes a number to two decimals: these members are not to be caught by their lowest bits.
func text(x float64) string { return fmt.Sprintf("%.2f", x) }

// pick is one of two values, by the side.
func pick[T any](side Side, data, neighbor T) T { return [2]T{data, neighbor}[side] }

// sparse is a sparse vector technique with thresholds at 0, in the frame of Lyu, Su & Li 2017, Figure 1: of sensitivity
// 1, with noise of scale threshold on the threshold and of scale query on each query, that stops after so many
// positives; 0: never.
func sparse(
	r *rand.Rand, queries []float64, threshold, query float64, positives int, told func(q float64) string,
) string {
	rho := laplace(r, threshold)
	var out []string
	n := 0
	for _, q := range queries {
		q += laplace(r, query)
		if q < rho {
			out = append(out, "⊥")
			continue
		}
		out = append(out, told(q))
		if n++; n == positives {
			break
		}
	}
	return strings.Join(out, " ")
}

func top(float64) string { return "⊤" }

func repeat(x float64, n int) []float64 { return slices.Repeat([]float64{x}, n) }

// zoo is what audits must catch.
var zoo = []member{
	{"naive Laplace noise in floats", "1.5", "0", 10_000, func(r *rand.Rand, side Side) string {
		return fmt.Sprint(float64(side) + laplace(r, 1)) // ε = 1 on paper
	}, false},
	{"sparse vector, Algorithm 3: tells the noisy values", "2", "0", 40_000, func(r *rand.Rand, side Side) string {
		q := pick(side, []float64{0, 0, 0, 0, 0, 2}, []float64{1, 1, 1, 1, 1, 3})
		return sparse(r, q, 1, 1, 1, text)
	}, false},
	{"sparse vector, Algorithm 4: noise of queries not for c", "1", "0", 16_000, func(r *rand.Rand, side Side) string {
		q := append(repeat(pick(side, 0.0, 1.0), 6), repeat(pick(side, 1.0, 0.0), 6)...)
		return sparse(r, q, 4, 4./3, 6, top)
	}, false},
	{"sparse vector, Algorithm 5: no noise on queries", "1", "0", 4_000, func(r *rand.Rand, side Side) string {
		return sparse(r, pick(side, []float64{0, 1}, []float64{1, 0}), 2, 1e-300, 0, top)
	}, false},
	{"sparse vector, Algorithm 6: never stops", "1", "0", 12_000, func(r *rand.Rand, side Side) string {
		q := append(repeat(pick(side, 0.0, 1.0), 8), repeat(pick(side, 1.0, 0.0), 8)...)
		return sparse(r, q, 2, 2, 0, top)
	}, false},
	{"sparse vector whose query noise is drawn once", "1", "0", 4_000, func(r *rand.Rand, side Side) string {
		nu := laplace(r, 4)
		q := pick(side, []float64{0, 1}, []float64{1, 0})
		return sparse(r, []float64{q[0] + nu, q[1] + nu}, 2, 1e-300, 2, top)
	}, false},
	{"half the noise", "1", "0", 20_000, func(r *rand.Rand, side Side) string { return text(math.Round(float64(side) + laplace(r, 0.5))) }, false},
	{"the median's local sensitivity", "1", "0", 4_000, func(r *rand.Rand, side Side) string {
		// one person's age, 38, becomes 90
		ages := pick(side, []float64{30, 38, 40, 41, 90}, []float64{30, 40, 41, 90, 90})
		local := math.Max(ages[2]-ages[1], ages[3]-ages[2])
		return text(ages[2] + laplace(r, local))
	}, false},
	{"the number of people, exactly", "1", "0", 4_000, func(r *rand.Rand, side Side) string {
		n := pick(side, 100.0, 99.0)
		return fmt.Sprintf(`{"n": %v, "sum": %.3f}`, n, 40*n+laplace(r, 115))
	}, false},
	{"noise on the quotient, by the exact number of people", "1", "0", 20_000, func(r *rand.Rand, side Side) string {
		ages := pick(side, []float64{20, 20, 115}, []float64{20, 20})
		sum := 0.0
		for _, a := range ages {
			sum += a
		}
		n := float64(len(ages))
		// the noise of change-one neighbours, whose number is fixed
		return fmt.Sprintf("%.2f", sum/n+laplace(r, 115/n)/4)
	}, false},
	{"the exact answer", "1", "1e-6", 1000, func(_ *rand.Rand, side Side) string { return fmt.Sprint(100 + int(side)) }, false},
	{"a plain sample of the rows", "1", "0", 4_000, func(r *rand.Rand, side Side) string {
		rows := pick(side, []string{"ann", "bob", "cat", "dan"}, []string{"ann", "bob", "cat", "eve"})
		i := r.IntN(len(rows))
		return rows[i] + " " + rows[(i+1+r.IntN(len(rows)-1))%len(rows)]
	}, false},
	{"name and shame", "1", "1e-6", 20_000, func(r *rand.Rand, side Side) string {
		if r.Float64() < 0.01 { // δ-additive secrecy at δ = 0.01
			return pick(side, `[1, "smoker"]`, `[1, "never"]`)
		}
		return "nothing"
	}, false},
	{"composition uncharged: ten answers for one's price", "1", "0", 3_000, func(r *rand.Rand, side Side) string {
		out := make([]string, 10)
		for i := range out {
			out[i] = fmt.Sprintf("%.3f", pick(side, 0., 1)+laplace(r, 1))
		}
		return "[" + strings.Join(out, ", ") + "]"
	}, false},
	{"noisy max that tells the maximum's own noisy value", "1", "0", 20_000, func(r *rand.Rand, side Side) string {
		counts := pick(side, repeat(1, 12), repeat(0, 12)) // scale 2Δ/ε pays for the place, not for the value
		best, at := math.Inf(-1), 0
		for i, c := range counts {
			if v := c + laplace(r, 1); v > best {
				best, at = v, i
			}
		}
		return fmt.Sprintf("%d %.2f", at, best)
	}, false},
	{"bounds that were given as upper and upper", "1", "0", 1000, func(r *rand.Rand, side Side) string {
		const lower, upper = 115.0, 115.0
		return fmt.Sprintf("%.1f", pick(side, 4000., 3960)+laplace(r, (upper-lower)/1))
	}, false},
	{"the classic formula for σ at ε = 10", "10", "0.1", 5_000_000, func(r *rand.Rand, side Side) string {
		sigma := math.Sqrt(2*math.Log(1.25/0.1)) / 10
		return strconv.FormatFloat(float64(side)+sigma*r.NormFloat64(), 'f', 2, 64)
	}, true},
	{"Gaussian noise claimed to be pure", "1", "0", 40_000, func(r *rand.Rand, side Side) string {
		return text(float64(side) + r.NormFloat64())
	}, false},
	{"bounds taken from the data", "1", "0", 4_000, func(r *rand.Rand, side Side) string {
		ages := pick(side, []float64{20, 30, 40}, []float64{20, 30, 100})
		low, high := slices.Min(ages), slices.Max(ages)
		sum := 0.0
		for _, a := range ages {
			sum += a
		}
		return fmt.Sprintf("%.1f", math.Max(3*low, math.Min(sum+laplace(r, high-low), 3*high)))
	}, false},
	{"partition keys shown without a threshold", "1", "1e-6", 4_000, func(r *rand.Rand, side Side) string {
		keys := pick(side, []string{"flu", "gout", "kuru"}, []string{"flu", "gout"})
		var out []string
		for _, k := range keys {
			out = append(out, fmt.Sprintf("%s=%.1f", k, 1+laplace(r, 1)))
		}
		return strings.Join(out, ", ")
	}, false},
	{"rounding that depends on the data", "1", "0", 10_000, func(r *rand.Rand, side Side) string {
		sum := pick(side, 1000., 999)
		unit := math.Pow(10, math.Floor(math.Log10(sum))-1) // two digits of the exact sum
		return strconv.Itoa(int(math.Round((sum+laplace(r, 100))/unit) * unit))
	}, false},
	{"biased randomized response", "1.0986", "0", 20_000, func(r *rand.Rand, side Side) string {
		if r.Float64() < 0.6 { // the first coin should be fair, for ln 3
			return pick(side, "yes", "no")
		}
		return []string{"yes", "no"}[r.IntN(2)]
	}, false},
}

func TestZoo(t *testing.T) {
	t.Parallel()
	for i, m := range slices.Concat(zoo, formats, joints) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if m.long && os.Getenv("DITHER_LONG") == "" {
				t.Skip("it takes ten million runs")
			}
			r, err := Run(context.Background(), m.mechanism(uint64(i)),
				Options{Runs: m.runs, Claim: claim(t, m.epsilon, m.delta)})
			if err != nil {
				t.Fatal(err)
			}
			f := r.Findings[0]
			t.Logf("claim (%s, %s): %s. ε ≥ %.4g of %.4g, δ ≥ %.4g. On %s: %s: %v of %d", m.epsilon, m.delta, r.Verdict,
				r.Epsilon, r.Reach, r.Delta,
				f.Likely, f.Event, f.Counts, f.Runs)
			if r.Verdict != Refuted {
				for _, f := range r.Findings {
					t.Errorf("%s: %v", f.Event, f.Counts)
				}
			}
		})
	}
}
