package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dither/curator"
	"dither/internal/stattest"
)

// The number of places is found: of simulated tables of each kind (their rows, noise and beginnings pinned by seeds) in
// nearly all. It fails at a count that has a probability below 1e-7 where the number is found with the one of its line;
// the log tells how often it was.
func TestKMeansFindsHowMany(t *testing.T) {
	for _, c := range []struct {
		task        task
		n           int
		epsilon     float64
		places      []int
		trials      int
		probability float64
	}{
		{task{method: MethodGrid, d: 2, k: 8, least: 2}, 2000, 0.5, []int{2, 4}, 40, 0.7},
		{task{method: MethodGrid, d: 3, k: 6, least: 2}, 4000, 0.5, []int{2, 4}, 16, 0.7},
		// clusters of noise alone look well apart
		{task{method: MethodGrid, d: 3, k: 8, least: 2}, 6000, 1, []int{3}, 100, 0.95},
	} {
		for _, places := range c.places {
			found := 0
			for i := range c.trials {
				r := rand.New(rand.NewPCG(uint64(i), 9))
				rows, _ := blobs(r, c.n, places, c.task.d, 0.7, 0.7, 0.08)
				of := withDefaults(c.task)
				of.seed = uint64(i + 1)
				got, err := runMethod(t.Context(), of,
					&simulatedSource{t: t, rows: rows, task: of, epsilon: c.epsilon, random: r})
				if err != nil {
					t.Fatal(err)
				}
				if len(got.clusters) == places {
					found++
				}
				for _, s := range got.scores {
					if math.IsNaN(s.Silhouette+s.StdDev) || math.IsInf(s.Silhouette+s.StdDev, 0) || s.StdDev < 0 {
						t.Errorf("%+v", s)
					}
				}
			}
			t.Logf("%s, %d columns, %d rows, ε = %g: %d places found in %d of %d", c.task.method, c.task.d, c.n,
				c.epsilon, places, found, c.trials)
			if err := (stattest.Proportion{
				Successes:  found,
				Of:         stattest.Binomial{Trials: c.trials, Probability: c.probability},
				FalseAlarm: 1e-7,
			}).CheckAtLeast(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A range of numbers costs what the largest does; after it every number up to that is free, and the clusters are those
// that were told. At ε = 3 another number than three was found in none of 100 simulated tables.
func TestKMeansOfARange(t *testing.T) {
	for name, edit := range map[string]func(string) string{"pure": asItIs, "zCDP": underRho} {
		c, _ := testHome(t, edit, 6000)
		for _, method := range []string{MethodGrid, MethodTree} {
			of := Request{Table: "t", Columns: []string{"x", "y", "n"}, Least: 2, K: 8, Method: method, Epsilon: "3"}
			if method == MethodTree {
				of.Least, of.K, of.Most = 0, 3, 8
			}
			got, err := KMeans(t.Context(), c, of)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Clusters) != 3 || len(got.Scores) != 7 && method == MethodGrid ||
				math.Abs(got.Rows-5880) > 2000 {
				t.Errorf("%s %s: %+v", name, method, got)
			}
			spent := spentOf(t, c)
			for _, k := range []int{1, 3, 8} {
				again, err := KMeans(t.Context(), c,
					Request{Table: "t", Columns: of.Columns, K: k, Most: 8, Method: method, Epsilon: "3"})
				if err != nil || !again.Replayed || spentOf(t, c) != spent || len(again.Scores) != 0 {
					t.Fatalf("%s %s: %+v, %v", name, method, again, err)
				}
				if k == 3 && fmt.Sprint(again.Clusters) != fmt.Sprint(got.Clusters) {
					t.Errorf("%s %s: %v, then %v", name, method, got.Clusters, again.Clusters)
				}
			}
		}
		for _, wrong := range []Request{
			{K: 8, Least: 1}, {K: 8, Least: 9}, {K: 8, Least: -1}, {K: 65, Least: 2}, {K: 8, Most: 7}, {K: 8, Most: 65}, {K: 8, Least: 2, Method: MethodLloyd}, {K: 8, Least: 2, Method: MethodTree}, {K: 8, Most: 9, Iterations: 3},
		} {
			wrong.Table, wrong.Columns = "t", []string{"x"}
			if _, err := KMeans(t.Context(), c, wrong); codeOf(err) != curator.CodeUsage {
				t.Errorf("%+v: %v", wrong, err)
			}
		}
	}
}

// Nothing to choose by is a warning, not a failure.
func TestKMeansChoosesOfNothing(t *testing.T) {
	for _, method := range []string{MethodGrid, ""} {
		for _, rows := range []int{0, 2} {
			c, _ := testHome(t, asItIs, rows)
			got, err := KMeans(t.Context(), c,
				Request{Table: "t", Columns: []string{"x", "y"}, Least: 2, K: 64, Method: method, Epsilon: "0.3"})
			if err != nil || len(got.Warnings) == 0 {
				t.Errorf("%+v, %v", got, err)
			}
		}
	}
}
