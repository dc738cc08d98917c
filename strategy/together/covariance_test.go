package together

import (
	"math"
	"testing"

	"dither/curator"
)

// The covariance of an answer with itself is its variance. Groups that add up to another answer of the same estimate have
// the covariances of that sum.
func TestCovariances(t *testing.T) {
	for budget, request := range map[string]curator.Request{ofPure: {Epsilon: "0.01"}, ofRho: {Rho: "0.001"}} {
		c := town(t, budget)
		for _, questions := range [][]string{
			{"SELECT COUNT(*) FROM people WHERE age > 50", "SELECT COUNT(*) FROM people WHERE ill"},
			{
				"SELECT COUNT(*) FROM people WHERE city IN ('a', 'b', 'c')", "SELECT city, COUNT(*) FROM people GROUP BY city",
				"SELECT city, ill, COUNT(*) FROM people GROUP BY city, ill", "SELECT COUNT(*) FROM people WHERE age < 40",
			},
		} {
			e := explain(t, c, Batch{Questions: questions, Request: request})
			covariance := func(i, j int) float64 {
				v, err := e.Covariance(i, j)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			near := func(name string, got, want float64) {
				if math.Abs(got-want) > 1e-6*math.Abs(want)+1e-9*e.Counts[0].StdDev {
					t.Errorf("%s: %s is %v, not %v", budget, name, got, want)
				}
			}
			for i, n := range e.Counts {
				near("a variance", covariance(i, i), n.StdDev*n.StdDev)
				near("the other order", covariance(i, 0), covariance(0, i))
			}
			if len(questions) == 4 { // the three cities add up to all people with a known one
				sum := 0.0
				for i := 1; i <= 3; i++ {
					for j := 1; j <= 3; j++ {
						sum += covariance(i, j)
					}
					near("a covariance with the total", covariance(i, 0), covariance(i, 1)+covariance(i, 2)+covariance(i, 3))
				}
				near("the variance of the total", sum, covariance(0, 0))
			}
			for _, at := range [][2]int{{-1, 0}, {0, len(e.Counts)}} {
				if _, err := e.Covariance(at[0], at[1]); err == nil {
					t.Errorf("answers %v have a covariance", at)
				}
			}
		}
	}
}
