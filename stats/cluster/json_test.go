package cluster

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"dither/curator"
)

// Results in JSON are byte for byte what testdata/results.jsonl holds. DITHER_UPDATE_JSON=1 updates it.
func TestResultsInJSON(t *testing.T) {
	price := curator.Loss{Epsilon: "0.5", Delta: "1e-6"}
	remaining := curator.Loss{Rho: "1.5", Delta: "1e-6"}
	var got bytes.Buffer
	for _, v := range []any{
		&Result{Confidence: "0.95", Clusters: []Cluster{}, Warnings: []string{}},
		&Result{
			Releases: []string{"r1"}, Method: MethodLloyd, Columns: []string{"a<b", "y"},
			Bounds: [][2]float64{{-1, 1}, {0, 1e-9}}, Confidence: "0.95", Rows: 10.5, Seed: 7,
			Clusters: []Cluster{{Size: Number{10, 9, 11}, Centre: []Number{{0.1, 0, 0.2}, {1, 1, 1}}}, {}},
			Buckets:  []int{2, 3}, Leaves: 4, Scores: []Score{{2, 0.5, 0.1}, {3, 0.25, 0}}, Restarts: 2,
			Trace:    [][][]float64{{{1, 2}, {3, 4}}, {{1.5, 2}, {3, 4}}},
			Warnings: []string{"one > two"}, Notes: []string{"a & b"}, Price: price, Remaining: remaining,
			Replayed: true,
		},
		&Explanation{Unpaid: &curator.Loss{}},
		&Explanation{
			Method: MethodTree, Columns: []string{"x"},
			Accesses: []Access{
				{What: "rows", Times: 2, Price: "0.25", Count: 1.5, Sums: []float64{2.5}},
				{What: "groups", Times: 1, Price: "0.5"},
			},
			Buckets: []int{5}, Price: price, Unpaid: &price, Remaining: remaining, Affordable: true, Largest: "3",
			Notes: []string{"a < b"},
		},
		&Explanation{Method: MethodGrid, Accesses: []Access{{Price: "1e-3"}}, Replayed: true, Largest: "0"},
	} {
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte(err.Error())
		}
		got.Write(append(text, '\n'))
	}
	const file = "testdata/results.jsonl"
	if os.Getenv("DITHER_UPDATE_JSON") != "" {
		if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s", got.Bytes())
	}
}
