package cluster

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dither/examples/randhie"
	"dither/internal/testhome"
)

const adultPolicy = `
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

// Clusters of real data through the curator: the mean squared distance of all rows to the nearest centre, in scaled
// units, over that of k-means without privacy. Of the RAND table by its visits, its diseases and its incentive; and of
// adult.csv, where DITHER_ADULT names that file, by age, hours a week and education.
func TestKMeansOfRealData(t *testing.T) {
	rand, err := randhie.Files.ReadFile("randhie.csv")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := randhie.Files.ReadFile("policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	adults, err := os.ReadFile(os.Getenv("DITHER_ADULT"))
	if err != nil {
		t.Log("DITHER_ADULT names no file")
	}
	for _, of := range []struct {
		table, file, policy string
		text                []byte
		columns             []string
		ends                []float64
		k                   int
		most                map[string]float64 // of the automatic method, by ε: far above what it has ever been
	}{
		{
			"visits", "randhie.csv",
			strings.NewReplacer("epsilon: 1.2", "epsilon: 100", "maximum: 0.5",
				"minimum: 0.001").Replace(string(policy)), rand,
			[]string{"mdvis", "disea", "lpi"},
			[]float64{50, 60, 8},
			3,
			map[string]float64{"0.2": 1.5, "1": 1.2},
		},
		{"adult", "adult.csv", adultPolicy, adults, []string{"age", "hours-per-week", "education-num"}, []float64{84, 98, 15}, 4, map[string]float64{"0.2": 1.3, "1": 1.1}},
	} {
		if of.text == nil {
			continue
		}
		c, _ := testhome.Sealed(t, of.policy, of.table, map[string]string{of.file: string(of.text)})
		points, weights := distinctPoints(t, string(of.text), of.columns, of.ends)
		best := weightedCost(points, weights,
			weightedCentres(task{d: len(of.columns), k: of.k}, points, weights, randomStream(1)))
		t.Logf("%s: without privacy %.5f", of.table, best)
		for epsilon, most := range of.most {
			for _, method := range []string{MethodLloyd, MethodGrid, MethodTree, ""} {
				got, err := KMeans(t.Context(), c,
					Request{Table: of.table, Columns: of.columns, K: of.k, Method: method, Epsilon: epsilon})
				if err != nil {
					t.Fatal(err)
				}
				var centres [][]float64
				for _, k := range got.Clusters {
					var at []float64
					for i, x := range k.Centre {
						at = append(at, 2*x.Value/of.ends[i]-1)
					}
					centres = append(centres, at)
				}
				ratio := weightedCost(points, weights, centres) / best
				t.Logf("%s: ε = %-4s %-5s %.3f", of.table, epsilon, got.Method, ratio)
				if method == "" && ratio > most {
					t.Errorf("%s: ε = %s: by %s, the cost is %.3f of that without privacy",
						of.table, epsilon, got.Method, ratio)
				}
			}
		}
	}
}

// distinctPoints are the distinct rows of some columns of a CSV, scaled from 0 … end, and how many there are of each.
func distinctPoints(
	t *testing.T, text string, columns []string, ends []float64,
) (points [][]float64, weights []float64) {
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
			at[i] = 2*min(v, ends[i])/ends[i] - 1
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

func weightedCost(points [][]float64, weights []float64, centres [][]float64) float64 {
	sum, total := 0.0, 0.0
	for i, p := range points {
		_, d := nearestCentre(p, centres)
		sum, total = sum+weights[i]*d, total+weights[i]
	}
	return sum / total
}
