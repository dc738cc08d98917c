package marginal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/internal/stattest"
	"dither/strategy"
)

// simulated returns the estimate of a plan from these counts over the whole domain, with Gaussian noise of the plan's
// variances at a price at which one count has variance 1.
func simulated(r *rand.Rand, p *Plan, counts []float64) *Estimate {
	e := &Estimate{plan: p, parts: map[subset]*part{}}
	d := p.Domain()
	for _, members := range p.parts() {
		in := of(members...)
		cells := int(d.cells(members))
		exact := make([]float64, cells)
		for i, n := range counts {
			at, step := 0, 1
			for m := len(d.attributes) - 1; m >= 0; m-- {
				size := d.attributes[m].Size
				if in.has(m) {
					at += i % size * step
					step *= size
				}
				i /= size
			}
			exact[at] += n
		}
		class, _ := p.residuals.class(in)
		variance := p.units[class]
		for _, m := range members {
			variance *= p.factors[m].norm
			next := make([]float64, cells)
			p.apply(members, m, exact, next)
			exact = next
		}
		for i := range exact {
			exact[i] += r.NormFloat64() * math.Sqrt(variance)
		}
		e.parts[in] = &part{members: members, variance: variance, values: p.solve(members, exact)}
	}
	return e
}

// apply multiplies one attribute of a vector by its matrix.
func (p *Plan) apply(members []int, attribute int, values, out []float64) {
	after := 1
	for _, m := range members[slices.Index(members, attribute)+1:] {
		after *= p.factors[m].size
	}
	matrix, size := p.factors[attribute].matrix(), p.factors[attribute].size
	for i := range values {
		row := i / after % size
		for j := range size {
			out[i] += matrix.At(row, j) * values[i+(j-row)*after]
		}
	}
}

// TestWholeNumbersKeepCoverage simulates a table with many empty cells. An interval of two standard deviations around a
// whole number, widened by one half per attribute, covers the truth at least as often as 95 %, in a full cell and in an
// empty one; the false-alarm rate is 1e-6 each. The whole numbers also have a smaller mean squared error than the
// estimates, on average.
func TestWholeNumbersKeepCoverage(t *testing.T) {
	d, _ := NewDomain(Attribute{"a", 3, Values}, Attribute{"b", 4, Values}, Attribute{"c", 2, Values})
	w, err := d.Ways(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	p := w.Sum(strategy.Rho)
	counts := make([]float64, 24)
	counts[0], counts[9], counts[10], counts[23] = 40, 5, 1, 2
	truth := make([]float64, 12) // by a and b
	for i, n := range counts {
		truth[i/2] += n
	}
	const times = 2000
	r := rand.New(rand.NewPCG(3, 4))
	covered, linear, whole := map[int]int{}, 0.0, 0.0
	for range times {
		e := simulated(r, p, counts)
		estimates, err := e.Marginal("a", "b")
		if err != nil {
			t.Fatal(err)
		}
		numbers, err := e.Whole("a", "b")
		if err != nil {
			t.Fatal(err)
		}
		total, err := e.Whole()
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for i, n := range numbers {
			sum += n
			if n < 0 {
				t.Fatalf("a whole number is %d", n)
			}
			off := estimates.Values[i] - truth[i]
			linear += off * off
			whole += math.Pow(float64(n)-truth[i], 2)
			if math.Abs(float64(n)-truth[i]) <= 2*math.Sqrt(estimates.Variances[i])+1 {
				covered[i]++
			}
		}
		if sum != total[0] {
			t.Fatalf("the whole numbers add up to %d, not %d", sum, total[0])
		}
	}
	for _, cell := range []int{0, 4, 6} {
		check := stattest.Proportion{
			Successes: covered[cell], Of: stattest.Binomial{Trials: times, Probability: .95}, FalseAlarm: 1e-6,
		}
		if err := check.CheckAtLeast(); err != nil {
			t.Errorf("cell %d: %v", cell, err)
		}
	}
	if whole > linear {
		t.Errorf("the squared error is %v after rounding, %v before", whole/times, linear/times)
	}
}

// TestWholeNumbersAgree rounds all marginals of up to three attributes. Those of two agree on all that they share, and
// those of three with each single attribute, and with the pairs that have their first attribute.
func TestWholeNumbersAgree(t *testing.T) {
	d, _ := NewDomain(Attribute{"a", 3, Values}, Attribute{"b", 4, Values}, Attribute{"c", 1, Values}, Attribute{"d", 5, Values})
	w, err := d.Ways(1, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	p := w.Sum(strategy.Rho)
	counts := make([]float64, 60)
	r := rand.New(rand.NewPCG(7, 8))
	for i := range counts {
		counts[i] = float64(r.IntN(3) * r.IntN(40))
	}
	names := []string{"a", "b", "c", "d"}
	for range 20 {
		e := simulated(r, p, counts)
		whole := func(members []int) []int64 {
			var of []string
			for _, m := range members {
				of = append(of, names[m])
			}
			out, err := e.Whole(of...)
			if err != nil || slices.Min(out) < 0 {
				t.Fatal(out, err)
			}
			return out
		}
		for set := range 1 << 4 {
			var members []int
			for m := range 4 {
				if set>>m&1 == 1 {
					members = append(members, m)
				}
			}
			for sub := set; len(members) < 4; sub = (sub - 1) & set {
				var kept []int
				for _, m := range members {
					if sub>>m&1 == 1 {
						kept = append(kept, m)
					}
				}
				if len(members) < 3 || len(kept) < 2 || kept[0] == members[0] {
					sums := make([]int64, int(d.cells(kept)))
					for i, n := range whole(members) {
						at, step := 0, 1
						for k := len(members) - 1; k >= 0; k-- {
							size := d.attributes[members[k]].Size
							if slices.Contains(kept, members[k]) {
								at += i % size * step
								step *= size
							}
							i /= size
						}
						sums[at] += n
					}
					if got := whole(kept); !slices.Equal(sums, got) {
						t.Fatalf("%v has the sums %v over %v, which are %v", members, sums, kept, got)
					}
				}
				if sub == 0 {
					break
				}
			}
		}
	}
}
