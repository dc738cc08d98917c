package together

import (
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/mat"
)

// recorded is a candidate as the home keeps it. Only the first of several has queries.
type recorded struct {
	Name     string    `json:"name"`
	Total    float64   `json:"total"`
	Queries  [][]int64 `json:"queries,omitempty"`
	Recovers []float64 `json:"recovers,omitempty"` // by row: one row for each count
}

// encoded returns the candidates, with the integers of the first.
func encoded(all []candidate) []byte {
	out := make([]recorded, len(all))
	for i, c := range all {
		out[i] = recorded{Name: c.name, Total: c.total}
		if i == 0 {
			out[i].Queries, out[i].Recovers = c.queries, mat.DenseCopyOf(c.recovers).RawMatrix().Data
		}
	}
	data, err := json.Marshal(out)
	if err != nil { // an error is infinite: nothing is recorded
		return nil
	}
	return data
}

// restored returns the candidates of encoded for some counts over cells; nil if the data are not of these.
func restored(data []byte, in [][]bool) []candidate {
	var all []recorded
	if data == nil || json.Unmarshal(data, &all) != nil || len(all) == 0 {
		return nil
	}
	first := all[0]
	if len(first.Queries) == 0 || len(first.Recovers) != len(in)*len(first.Queries) {
		return nil
	}
	for _, q := range first.Queries {
		if len(q) != len(in[0]) {
			return nil
		}
	}
	out := make([]candidate, len(all))
	for i, r := range all {
		out[i] = candidate{name: r.Name, total: r.Total}
	}
	out[0].queries, out[0].recovers = first.Queries, mat.NewDense(len(in), len(first.Queries), first.Recovers)
	if !out[0].computes(in) {
		return nil
	}
	return out
}

// computes reports whether the candidate computes the counts from its answers, so that they have no bias.
func (c candidate) computes(in [][]bool) bool {
	counts := numbers(in)
	for i, row := range counts {
		for k, want := range row {
			got := 0.0
			for j, q := range c.queries {
				got += c.recovers.At(i, j) * float64(q[k])
			}
			if !(math.Abs(got-float64(want)) <= 1e-9) {
				return false
			}
		}
	}
	return true
}
