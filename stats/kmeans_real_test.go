package stats

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dither/curator"
)

const kmAdultPolicy = `
version: 1
population: {name: adults, neighbours: add-remove}
budget: {epsilon: 100}
price: {default: 1, minimum: 0.001}
tables:
  adult:
    source: {csv: adult.csv}
    unit: row
    expected_rows: 50000
    columns:
      age: {type: integer, bounds: [0, 84]}
      hours-per-week: {type: integer, bounds: [0, 98]}
      education-num: {type: integer, bounds: [0, 15]}
`

// Four clusters of adult.csv, where DITHER_ADULT names that file, by age, hours a week and education: the mean squared distance of all rows to
// the nearest centre, in scaled units, over that of k-means without privacy.
func TestKMeansOfAdults(t *testing.T) {
	file := os.Getenv("DITHER_ADULT")
	if file == "" {
		t.Skip("DITHER_ADULT names no file")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	for _, err := range []error{
		curator.Init(home),
		os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(kmAdultPolicy), 0o600),
		os.WriteFile(filepath.Join(home, "adult.csv"), text, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := curator.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Seal(t.Context(), "adult", curator.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	columns, ends := []string{"age", "hours-per-week", "education-num"}, []float64{84, 98, 15}
	points, weights := kmDistinct(t, string(text), columns, ends)
	task := kmTask{d: 3, k: 4, seed: 1}
	best := kmWeightedCost(points, weights, kmWeighted(task, points, weights, 0, kmRandom(1)))
	t.Logf("without privacy: %.5f", best)
	for _, epsilon := range []string{"0.05", "0.2", "1"} {
		for _, method := range []string{KMeansLloyd, KMeansGrid, KMeansTree, ""} {
			got, err := KMeans(t.Context(), c, Clustering{Table: "adult", Columns: columns, K: 4, Method: method, Epsilon: epsilon})
			if err != nil {
				t.Fatal(err)
			}
			var centres [][]float64
			for _, k := range got.Clusters {
				var at []float64
				for i, x := range k.Centre {
					at = append(at, 2*x.Value/ends[i]-1)
				}
				centres = append(centres, at)
			}
			ratio := kmWeightedCost(points, weights, centres) / best
			t.Logf("ε = %-4s %-5s %.3f  %v", epsilon, got.Method, ratio, got.Buckets)
			if method == "" && (got.Method != KMeansGrid || ratio > map[string]float64{"0.05": 1.3, "0.2": 1.1, "1": 1.05}[epsilon]) {
				t.Errorf("ε = %s: by %s, the cost is %.3f of that without privacy", epsilon, got.Method, ratio)
			}
		}
	}
}

// kmDistinct are the distinct rows of some columns of a CSV, scaled from 0 … end, and how many there are of each.
func kmDistinct(t *testing.T, text string, columns []string, ends []float64) (points [][]float64, weights []float64) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	place := map[string]int{}
	for _, row := range rows[1:] {
		at := make([]float64, len(columns))
		for i, c := range columns {
			v, err := strconv.ParseFloat(row[slices.Index(rows[0], c)], 64)
			if err != nil {
				t.Fatal(err)
			}
			at[i] = 2*v/ends[i] - 1
		}
		key := fmt.Sprint(at)
		if _, ok := place[key]; !ok {
			place[key] = len(points)
			points, weights = append(points, at), append(weights, 0)
		}
		weights[place[key]]++
	}
	return points, weights
}

func kmWeightedCost(points [][]float64, weights []float64, centres [][]float64) float64 {
	sum, total := 0.0, 0.0
	for i, p := range points {
		_, d := kmNearest(p, centres)
		sum, total = sum+weights[i]*d, total+weights[i]
	}
	return sum / total
}
