package estimate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"testing"

	"dither/curator"
	"dither/stats/internal/request"
	"dither/stats/internal/statstest"
)

const estimateColumns = `      x: {type: real, bounds: [0, 100]}
      y: {type: real, bounds: [-50, 50]}
      g: {type: text, values: [a, b]}
      same: {type: integer, bounds: [5, 5]}
      none: {type: real, bounds: [0, 1], nullable: true}
`

// peopleOf has x about 40 and y = x/4 and more, in groups a and b.
func peopleOf(t testing.TB, budget string, n int) (c *curator.Session, x, y []float64) {
	t.Helper()
	s := newSimulator()
	c = statstest.People(t, budget, estimateColumns, "x,y,g,same,none", func(i int) string {
		a := math.Round(1000*(40+10*s.normal())) / 1000
		b := math.Round(1000*(a/4+5*s.normal())) / 1000
		x, y = append(x, a), append(y, b)
		return fmt.Sprintf("%g,%g,%s,5,", a, b, []string{"a", "b"}[i%2])
	}, n)
	return c, x, y
}

// Every estimate is of the rows' own number: it is no further off than seven half-widths of its 95 % interval, which
// noise is once in 10⁹ times; where it has none, a tenth of a deviation. What is asked again is the same, and free;
// what is planned is what is paid.
func TestEstimatesOfRows(t *testing.T) {
	for _, budget := range []string{"epsilon: 1000", "rho: 1000, delta: 1e-6"} {
		c, x, y := peopleOf(t, budget, 4000)
		truth := map[string]map[string]float64{"": statstest.Exact(x, y)}
		for g, from := range map[string]int{"a": 0, "b": 1} {
			var xs, ys []float64
			for i := from; i < len(x); i += 2 {
				xs, ys = append(xs, x[i]), append(ys, y[i])
			}
			truth[g] = statstest.Exact(xs, ys)
		}
		of := func(columns ...string) Sample {
			return Sample{Request: curator.Request{Epsilon: "5"}, Table: "people", Columns: columns}
		}
		try := func(s Sample, plan func(context.Context, *curator.Session, Sample) (*Plan, error), values int) {
			t.Helper()
			p, err := plan(t.Context(), c, s)
			if err != nil {
				t.Errorf("%+v: %v", s, err)
				return
			}
			before := statstest.Remaining(t, c)
			if !p.Affordable || p.Why == "" || len(p.Accesses) == 0 {
				t.Errorf("%s: %+v", p.Kind, p)
			}
			e, err := p.Run(t.Context())
			if err != nil {
				t.Errorf("%s %s: %v", p.Kind, p.Method, err)
				return
			}
			after := statstest.Remaining(t, c)
			price, _, err := request.Price(p.Price)
			if err != nil {
				t.Fatal(err)
			}
			if paid := new(big.Rat).Sub(before, after); paid.Cmp(price) > 0 || !e.Replayed && paid.Sign() == 0 ||
				len(e.Values) != values {
				t.Errorf("%s %s %v: %d values, paid %s of %s",
					p.Kind, p.Method, s.By, len(e.Values), paid.FloatString(6), price.FloatString(6))
			}
			for _, v := range e.Values {
				group := ""
				if len(v.Keys) > 0 {
					group = v.Keys[0].(string)
				}
				want, ok := truth[group][v.Name]
				if !ok || v.Value == nil {
					t.Errorf("%s %s: %+v", p.Kind, p.Method, v)
					continue
				}
				off, most := math.Abs(v.Value.Real-want), 1.0
				if v.Low != nil {
					most = 7 * math.Max(v.High.Real-v.Value.Real, v.Value.Real-v.Low.Real)
				}
				if off > most {
					t.Errorf("%s %s %s %s: %g, want %g ± %g", p.Kind, p.Method, group, v.Name, v.Value.Real, want, most)
				}
			}
			again, err := plan(t.Context(), c, s)
			if err != nil {
				t.Fatal(err)
			}
			free, err := again.Run(t.Context())
			if err != nil || !free.Replayed || statstest.Remaining(t, c).Cmp(after) != 0 {
				t.Errorf("%s %s again: %v, %v", p.Kind, p.Method, free, err)
				return
			}
			a, err1 := json.Marshal(e.Values)
			b, err2 := json.Marshal(free.Values)
			if err1 != nil || err2 != nil || string(a) != string(b) {
				t.Errorf("%s %s again: %s, first %s", p.Kind, p.Method, b, a)
			}
			for _, m := range []json.Marshaler{p, e} {
				if text, err := m.MarshalJSON(); err != nil || !json.Valid(text) {
					t.Errorf("%s: %s, %v", p.Kind, text, err)
				}
			}
		}
		for _, population := range []bool{false, true} {
			s := of("x", "y")
			s.Population = population
			try(s, PlanMean, 2)
			try(s, PlanVariance, 2)
			try(s, PlanCovariance, 6)
			s.By = []string{"g"}
			try(s, PlanMean, 4)
			try(s, PlanVariance, 4)
			try(s, PlanCovariance, 12)
			s.By, s.Method = nil, MethodCoinPress
			try(s, PlanMean, 2)
			try(s, PlanCovariance, 6)
			s.Deviations = []string{"10", "6"}
			try(s, PlanMean, 2)
		}
		s := of("x", "y")
		s.Method = MethodAutomatic
		try(s, PlanMean, 2)
		quantiles := func(at ...string) func(context.Context, *curator.Session, Sample) (*Plan, error) {
			return func(ctx context.Context, c *curator.Session, s Sample) (*Plan, error) {
				return PlanQuantile(ctx, c, s, at...)
			}
		}
		s = of("x")
		try(s, quantiles("0.25", "0.5", "0.75"), 3)
		try(s, quantiles("0.5"), 1)
		s.Deviations = []string{"10"}
		if p, err := PlanQuantile(t.Context(), c, s, "0.25", "0.5", "0.75"); err != nil || p.Method != MethodRecursive {
			t.Errorf("%+v, %v", p, err)
		}
		s.Method = MethodJoint
		try(s, quantiles("0.25", "0.75"), 2)
		s.Method = MethodSmooth
		try(s, quantiles("0.5"), 1)
		s.Method, s.By = "", []string{"g"}
		try(s, quantiles("0.25", "0.5", "0.75"), 6)
		s.By, s.Population = nil, true
		try(s, quantiles("0.5"), 1)
	}
}

// What cannot be estimated is refused by what is asked alone, and costs nothing; what nothing is known of has no value,
// and the widest interval.
func TestEstimatesRefused(t *testing.T) {
	c, _, _ := peopleOf(t, "epsilon: 3", 400)
	price := curator.Request{Epsilon: "1"}
	x := Sample{Request: price, Table: "people", Columns: []string{"x"}}
	with := func(change func(*Sample)) Sample {
		s := x
		change(&s)
		return s
	}
	for i, s := range []Sample{
		{},
		{Request: price, Table: "people"},
		{Request: price, Columns: []string{"x"}},
		{Request: price, Table: "nosuch", Columns: []string{"x"}},
		{Request: price, Table: "people", Columns: []string{"nosuch"}},
		{Request: price, Table: "people", Columns: []string{"g"}},
		{Request: price, Table: "people", Columns: []string{" "}},
		with(func(s *Sample) { s.SQL = "SELECT 1" }),
		with(func(s *Sample) { s.Method = "nosuch" }),
		with(func(s *Sample) { s.Where = "x >" }),
		with(func(s *Sample) { s.By = []string{"nosuch"} }),
		with(func(s *Sample) { s.Confidence = "1" }),
		with(func(s *Sample) { s.Confidence, s.Population = "NaN", true }),
		with(func(s *Sample) { s.Rounds = 11 }),
		with(func(s *Sample) { s.Deviations = []string{"1", "2"} }),
		with(func(s *Sample) { s.Deviations = []string{"-1"} }),
		with(func(s *Sample) { s.Deviations = []string{"1e999999"} }),
		with(func(s *Sample) { s.Method, s.By = MethodCoinPress, []string{"g"} }),
		with(func(s *Sample) { s.Method, s.Epsilon = MethodCoinPress, "4" }),
		with(func(s *Sample) { s.Epsilon = "0" }),
	} {
		if p, err := PlanMean(t.Context(), c, s); err == nil {
			if _, err = p.Run(t.Context()); err == nil {
				t.Errorf("%d: %+v is answered", i, s)
			}
		}
	}
	for _, at := range [][]string{nil, {"2"}, {"0.5", "0.5"}, {"NaN"}, {"-0.1"}, {"0.5", "0.25"}, {"0.12345"}} {
		if _, err := PlanQuantile(t.Context(), c, x, at...); err == nil {
			t.Errorf("quantiles at %v are answered", at)
		}
	}
	for _, s := range []Sample{
		with(func(s *Sample) { s.Columns = []string{"x", "y"} }),
		with(func(s *Sample) { s.Method, s.By = MethodJoint, []string{"g"} }),
		with(func(s *Sample) { s.Method, s.Population = MethodJoint, true }),
		with(func(s *Sample) { s.Population, s.Confidence = true, "0.999" }),
	} {
		if _, err := PlanQuantile(t.Context(), c, s, "0.5"); err == nil {
			t.Errorf("quantiles of %+v are answered", s)
		}
	}
	if got := statstest.Remaining(t, c); got.Cmp(big.NewRat(3, 1)) != 0 {
		t.Errorf("%s remain of 3", got.FloatString(6))
	}
	// Nothing, a constant, and columns that are NULL everywhere.
	for _, s := range []Sample{
		with(func(s *Sample) { s.Where, s.Columns = "x > 99", []string{"x", "y"} }),
		with(func(s *Sample) { s.Columns = []string{"same", "x"} }),
		with(func(s *Sample) { s.Columns = []string{"none", "x"} }),
	} {
		for _, population := range []bool{false, true} {
			for _, of := range []func(context.Context, *curator.Session, Sample) (*Result, error){
				Mean, Variance,
				Covariance,
			} {
				s.Population, s.Epsilon = population, "0.1"
				e, err := of(t.Context(), c, s)
				if err != nil {
					t.Errorf("%+v: %v", s, err)
					continue
				}
				for _, v := range e.Values {
					for _, n := range []*curator.Number{v.Value, v.Low, v.High} {
						if n != nil && (math.IsNaN(n.Real) || math.IsInf(n.Real, 0)) {
							t.Errorf("%+v", v)
						}
					}
				}
			}
		}
	}
}
