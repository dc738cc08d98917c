package cluster

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

// The intervals of a tree's clusters hold as often as they say, about all rows of the clusters' groups, and every row
// is in a cluster: also where most groups are empty, as in one column, whose planes are all at one place, and where
// more clusters are asked for than there are places. False alarm 1e-6 each.
func TestKMeansTreeCoverage(t *testing.T) {
	trials := 200
	if os.Getenv("DITHER_LONG") != "" {
		trials = 4000
	}
	for name, c := range map[string]struct {
		d, k                   int
		epsilon, reach, spread float64
	}{
		"one column":       {1, 3, 0.5, 0.8, 0.05},
		"wide places":      {2, 3, 0.5, 0.6, 0.3},
		"little data":      {2, 3, 0.1, 0.6, 0.1},
		"too many at once": {3, 9, 1, 0.8, 0.15},
	} {
		task := withDefaults(task{method: MethodTree, d: c.d, k: c.k})
		held, of := map[string]int{}, map[string]int{}
		wide := map[string]float64{}
		tally := func(what string, n Number, truth float64) {
			of[what]++
			wide[what] += (n.High - n.Low) / 2
			if n.Low-1e-6 <= truth && truth <= n.High+1e-6 { // sums are of integers, on a grid of 2^-24
				held[what]++
			}
		}
		for i := range trials {
			r := rand.New(rand.NewPCG(uint64(i), 13))
			rows, _ := blobs(r, 2000, 3, c.d, c.reach, 0.3, c.spread)
			task.seed = uint64(i + 1)
			s := &simulatedSource{t: t, rows: rows, task: task, epsilon: c.epsilon, random: r}
			got, err := runMethod(t.Context(), task, s)
			if err != nil {
				t.Fatal(err)
			}
			truth, all := s.truth[len(s.truth)-1], 0.0
			for j, k := range got.clusters {
				x := (i + j) % c.d
				count, sum := 0.0, 0.0
				for _, leaf := range got.groups[j] {
					count, sum = count+truth.counts[leaf], sum+truth.sums[leaf][x]
				}
				all += count
				tally("sizes", k.size, count)
				if count > 0 { // one coordinate of each cluster: their noises are independent
					tally("means", k.centre[x], sum/count)
				}
			}
			if len(got.clusters) > 0 && all != float64(len(rows)) {
				t.Fatalf("%s: %g of %d rows are in clusters", name, all, len(rows))
			}
		}
		for what, n := range of {
			t.Logf("%s: %s: %d of %d at 0.95, half widths %.4g", name, what, held[what], n, wide[what]/float64(n))
			if err := (stattest.Proportion{
				Successes: held[what], Of: stattest.Binomial{Trials: n, Probability: 0.95},
				FalseAlarm: 1e-6,
			}).CheckAtLeast(); err != nil {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
}

// Where no group of a tree is clear of noise, all rows are one cluster. Its intervals hold as often as they say among
// the clusterings that come to this, be they most or few. False alarm 1e-6 each.
func TestKMeansWholeCoverage(t *testing.T) {
	trials := 400
	if os.Getenv("DITHER_LONG") != "" {
		trials = 12000
	}
	for name, c := range map[string]struct {
		rows, d, k int
		epsilon    float64
	}{
		"none":                  {0, 2, 3, 1},
		"twenty":                {20, 2, 3, 1},
		"a hundred":             {100, 2, 2, 0.4},
		"more, in one column":   {300, 1, 5, 0.1},
		"more, in four columns": {600, 4, 3, 0.1},
		"many":                  {2000, 2, 3, 0.015},
	} {
		task := withDefaults(task{method: MethodTree, d: c.d, k: c.k})
		whole, sizes, means, meansOf := 0, 0, 0, 0
		for i := range trials {
			r := rand.New(rand.NewPCG(uint64(i), 17))
			rows, _ := blobs(r, c.rows, 3, c.d, 0.6, 0.3, 0.1)
			task.seed = uint64(i + 1)
			s := &simulatedSource{t: t, rows: rows, task: task, epsilon: c.epsilon, random: r}
			got, err := runMethod(t.Context(), task, s)
			if err != nil || len(got.clusters) == 0 {
				t.Fatal(name, got, err)
			}
			if !slices.ContainsFunc(got.warnings,
				func(w string) bool { return strings.HasPrefix(w, "Noise hides every group") }) {
				continue
			}
			truth, one := s.truth[0], got.clusters[0] // of all rows
			whole++
			if one.size.Low <= float64(c.rows) && float64(c.rows) <= one.size.High {
				sizes++
			}
			if x := i % c.d; c.rows > 0 {
				meansOf++
				if mean := truth.sums[0][x] / truth.counts[0]; one.centre[x].Low-1e-6 <= mean &&
					mean <= one.centre[x].High+1e-6 {
					means++
				}
			}
		}
		t.Logf("%s: %d of %d are one cluster; %d of %d sizes and %d of %d means hold", name, whole, trials, sizes,
			whole, means, meansOf)
		if whole < trials/20 {
			t.Errorf("%s: %d of %d are one cluster", name, whole, trials)
		}
		for _, of := range [][2]int{{sizes, whole}, {means, meansOf}} {
			if err := (stattest.Proportion{
				Successes: of[0], Of: stattest.Binomial{Trials: of[1], Probability: 0.95},
				FalseAlarm: 1e-6,
			}).CheckAtLeast(); of[1] > 0 && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A group whose count is not clear of noise has one cluster, with its kin, whatever its noisy count and sum are. Where
// its own mean would be far from its kin's, it moves once its count is clear.
func TestNoiseKeepsGroupsWithTheirKin(t *testing.T) {
	law, err := noise.NewDiscreteLaplace(big.NewRat(5, 1))
	if err != nil {
		t.Fatal(err)
	}
	leaf := func(i int) *treeNode { return &treeNode{leaf: i} }
	tree := &treeNode{
		below:  &treeNode{below: leaf(0), beyond: leaf(1)},
		beyond: &treeNode{below: leaf(2), beyond: &treeNode{below: leaf(3), beyond: leaf(4)}},
	}
	task := withDefaults(task{method: MethodTree, d: 1, k: 2})
	for _, c := range []struct {
		count, sum float64
		want       string
	}{
		{-40, -40, "[[0 1] [2 3 4]]"},
		{0, 3, "[[0 1] [2 3 4]]"},
		{39, 39, "[[0 1] [2 3 4]]"}, // the least clear count of five is 5·ln(5/.002) = 39.1, up to rounding
		{60, 60, "[[0] [1 2 3 4]]"},
	} {
		cells := &cellSums{
			counts: []float64{900, c.count, 800, 7, -8}, sums: [][]float64{{-810}, {c.sum}, {720}, {-50}, {0}},
			countNoise: law, sumNoise: law, sumUnit: 1,
		}
		r := &result{leaves: 5}
		r.assignGroups(task, cells, tree)
		slices.SortFunc(r.groups, slices.Compare)
		if got := fmt.Sprint(r.groups); got != c.want {
			t.Errorf("%+v: %v, want %s", c, got, c.want)
		}
	}
	r := &result{leaves: 5}
	if r.assignGroups(task, &cellSums{counts: []float64{9, 9, 9, 9, 9}, countNoise: law}, tree); len(r.clusters) != 0 {
		t.Errorf("%d clusters of noise", len(r.clusters))
	}
}
