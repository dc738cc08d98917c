package together

import (
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dither/curator"
	"dither/internal/stattest"
	"dither/internal/testhome"
)

// declared is a home of 60 people, some of whom have no known city, with declared totals.
func declared(t *testing.T, budget, totals string) *curator.Session {
	t.Helper()
	var rows strings.Builder
	rows.WriteString("age,ill,city\n")
	for i := range 60 {
		rows.WriteString([]string{"30", "40", "50", "60"}[i%4] + "," + []string{"true", "false", "false"}[i%3] + "," +
			[]string{"a", "b", "c", "a", "elsewhere"}[i%5] + "\n")
	}
	text := strings.Replace(ofPolicy, "[0, 115]", "[30, 60]", 1)
	if totals != "" {
		text = strings.Replace(text, "    columns:", "    totals: "+totals+"\n    columns:", 1)
	}
	c, _ := testhome.Sealed(t, strings.Replace(text, "BUDGET", budget, 1), "people", map[string]string{"people.csv": rows.String()})
	return c
}

// the totals of declared, and questions of both forms with their true answers
const ofAll = `{"*": 60, ill: {true: 20, false: 40}, city: {a: 24}}`

var (
	fewConditions = []string{
		"SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM people WHERE ill", "SELECT COUNT(*) FROM people WHERE NOT ill",
		"SELECT COUNT(*) FROM people WHERE age > 45", "SELECT COUNT(*) FROM people WHERE city = 'a' AND age > 45",
		"SELECT COUNT(*) FROM people WHERE city = 'a'", "SELECT COUNT(*) FROM people WHERE city IN ('a', 'b')",
	}
	fewAnswers = []float64{60, 20, 40, 30, 12, 24, 36}
	withGroups = []string{
		"SELECT ill, COUNT(*) FROM people GROUP BY ill", "SELECT COUNT(*) FROM people",
		"SELECT city, COUNT(*) FROM people GROUP BY city", "SELECT COUNT(*) FROM people WHERE age > 45",
		"SELECT COUNT(*) FROM people WHERE city IS NULL OR city <> 'a'", "SELECT city, COUNT(*) FROM people WHERE ill GROUP BY city",
		"SELECT COUNT(*) FROM people WHERE age BETWEEN 35 AND 55",
	}
	groupAnswers = []float64{40, 20, 60, 24, 12, 12, 30, 36, 8, 4, 4, 30}
)

// Declared totals have no error, and neither have answers that follow from them. No answer has more noise than without, and
// those that overlap them have less. Expected errors are those of the answers.
func TestDeclaredTotals(t *testing.T) {
	for budget, request := range map[string]curator.Request{ofPure: {Epsilon: "0.3"}, ofRho: {Rho: "0.05"}} {
		c, without := declared(t, budget, ofAll), declared(t, budget, "")
		for _, of := range []struct {
			questions []string
			want      []float64
			exact     []int
			less      int
		}{
			{fewConditions, fewAnswers, []int{0, 1, 2, 5}, 3},
			{withGroups, groupAnswers, []int{0, 1, 2, 3, 7}, 4},
		} {
			b := Batch{Questions: of.questions, Request: request}
			a, err := Ask(t.Context(), c, b)
			if err != nil {
				t.Fatal(err)
			}
			e, plain := explain(t, c, b), explain(t, without, b)
			if !a.Declared || !e.Declared || plain.Declared {
				t.Errorf("%s: declared %t, %t and %t", budget, a.Declared, e.Declared, plain.Declared)
			}
			if math.Abs(e.Candidates[0].StdDev/plain.Candidates[0].StdDev-1) > 1e-9 || math.Abs(e.Bound-plain.Bound) > 1e-9*plain.Bound {
				t.Errorf("%s: candidates %+v, and without totals %+v", budget, e.Candidates, plain.Candidates)
			}
			for _, i := range of.exact {
				if n := a.Counts[i]; n.Value != of.want[i] || n.StdDev != 0 || n.HalfWidth != 0 || n.Low != n.Value || n.High != n.Value {
					t.Errorf("%s: answer %d is %+v, and %v is declared", budget, i, n, of.want[i])
				}
			}
			less := 0
			for i, n := range a.Counts {
				if n.StdDev != e.Counts[i].StdDev || n.StdDev > plain.Counts[i].StdDev*(1+1e-6) {
					t.Errorf("%s: answer %d has the deviation %v, %v expected, %v without totals",
						budget, i, n.StdDev, e.Counts[i].StdDev, plain.Counts[i].StdDev)
				}
				if n.StdDev > 0 && n.StdDev < 0.99*plain.Counts[i].StdDev {
					less++
				}
				if v, err := a.Covariance(i, i); err != nil || math.Abs(v-n.StdDev*n.StdDev) > 1e-6*v {
					t.Errorf("%s: answer %d has the variance %v, and the deviation %v", budget, i, v, n.StdDev)
				}
			}
			if less < of.less {
				t.Errorf("%s: %d answers have less noise: %+v, without %+v", budget, less, e.Counts, plain.Counts)
			}
		}
	}
}

// The constants give the covariances of dense algebra: of least squares given all totals.
func TestTotalsAreLeastSquares(t *testing.T) {
	for budget, request := range map[string]curator.Request{ofPure: {Epsilon: "0.3"}, ofRho: {Rho: "0.05"}} {
		c := declared(t, budget, ofAll)
		b := Batch{Questions: withGroups, Request: request}
		e, err := Ask(t.Context(), c, b)
		if err != nil {
			t.Fatal(err)
		}
		g, err := several(t.Context(), c, b)
		if err != nil {
			t.Fatal(err)
		}
		k := e.errors.known
		all := len(k.basis[0])
		variance := make([]float64, all)
		for j := range variance {
			u := make([]float64, all)
			u[j] = 1
			variance[j] = k.product(u, u)
		}
		totals := g.totals()
		d := mat.NewDense(len(totals), all, nil)
		for i, of := range totals {
			for j, w := range k.dense(of.of, all) {
				d.Set(i, j, w*math.Sqrt(variance[j]))
			}
		}
		var svd mat.SVD // whose right singular vectors span what is known
		svd.Factorize(d, mat.SVDThin)
		rank := svd.Rank(1e-9)
		if rank != len(k.basis) {
			t.Errorf("%s: %d constants, and the totals have the rank %d", budget, len(k.basis), rank)
		}
		var right mat.Dense
		svd.VTo(&right)
		left := func(i int) *mat.VecDense { // what is not known of an answer
			of, err := e.errors.of(i)
			if err != nil {
				t.Fatal(err)
			}
			v := mat.NewVecDense(all, k.dense(of, all))
			for j := range variance {
				v.SetVec(j, v.AtVec(j)*math.Sqrt(variance[j]))
			}
			for r := range rank {
				u := right.ColView(r)
				v.AddScaledVec(v, -mat.Dot(u, v), u)
			}
			return v
		}
		for i := range e.Counts {
			for j := range e.Counts {
				got, err := e.Covariance(i, j)
				if err != nil {
					t.Fatal(err)
				}
				if want := mat.Dot(left(i), left(j)); math.Abs(got-want) > 1e-6*e.Counts[4].StdDev*e.Counts[4].StdDev {
					t.Errorf("%s: answers %d and %d have the covariance %v, and %v by dense algebra", budget, i, j, got, want)
				}
			}
		}
	}
}

// Intervals with totals hold at least at their confidence. The false-alarm rate is 10⁻⁶ for each answer.
func TestDeclaredTotalsCover(t *testing.T) {
	times := 12
	if os.Getenv("DITHER_LONG") != "" {
		times = 150
	}
	for budget, request := range map[string]curator.Request{ofPure: {Epsilon: "0.3"}, ofRho: {Rho: "0.05"}} {
		c := declared(t, budget, ofAll)
		for form, questions := range map[string][]string{"conditions": fewConditions, "groups": withGroups} {
			want := fewAnswers
			if form == "groups" {
				want = groupAnswers
			}
			request.Fresh = true
			outside := make([]int, len(want))
			for range times {
				a, err := Ask(t.Context(), c, Batch{Questions: questions, Request: request, Confidence: "0.8"})
				if err != nil {
					t.Fatal(err)
				}
				for i, n := range a.Counts {
					if want[i] < n.Low || want[i] > n.High {
						outside[i]++
					}
				}
			}
			for i, n := range outside {
				if (stattest.Binomial{Trials: times, Probability: 0.2}).AtLeast(n) < 1e-6 {
					t.Errorf("%s, %s: answer %d was outside its interval in %d of %d releases", budget, form, i, n, times)
				}
			}
		}
	}
}

// GROUP BY drops rows without a known value. A total of all rows is no sum of such groups, unless the policy declares that
// they are all rows. It has no part in questions about some rows, or about sums.
func TestTotalsOfOtherRows(t *testing.T) {
	groups := []string{"SELECT city, ill, COUNT(*) FROM people GROUP BY city, ill", "SELECT city, COUNT(*) FROM people GROUP BY city"}
	request := curator.Request{Rho: "50"}
	for name, of := range map[string]struct {
		totals    string
		questions []string
		exact     int // the number of answers without error
	}{
		"groups that drop rows":    {`{"*": 60}`, groups, 0},
		"another key drops rows":   {`{"*": 60, ill: {true: 20, false: 40}}`, append([]string{"SELECT ill, COUNT(*) FROM people WHERE city IS NOT NULL GROUP BY ill"}, groups...), 0},
		"the key that drops them":  {`{"*": 60, city: {a: 24}}`, groups, 1},
		"a condition of all":       {`{"*": 60}`, []string{"SELECT city, COUNT(*) FROM people WHERE ill GROUP BY city", "SELECT COUNT(*) FROM people WHERE ill"}, 0},
		"sums":                     {`{"*": 60}`, []string{"SELECT SUM(age) FROM people", "SELECT ill, SUM(age) FROM people GROUP BY ill"}, 0},
		"all values of a city":     {`{"*": 60, city: {a: 24, b: 24, c: 12}}`, []string{"SELECT city, COUNT(*) FROM people GROUP BY city", "SELECT city, ill, COUNT(*) FROM people GROUP BY city, ill"}, 3},
		"a question of all others": {`{"*": 60}`, append([]string{"SELECT COUNT(*) FROM people"}, groups...), 1},
	} {
		e := explain(t, declared(t, ofRho, of.totals), Batch{Questions: of.questions, Request: request})
		exact := 0
		for _, n := range e.Counts {
			if n.StdDev == 0 {
				exact++
			}
		}
		if exact != of.exact || e.Declared != (of.exact > 0) {
			t.Errorf("%s: %d answers have no error, %+v", name, exact, e.Counts)
		}
	}
}
