package estimate

import (
	"context"
	"math"
	"testing"

	"dither/curator"
)

// Without noise the components are those of the correlations, as numpy.linalg.eigh has them.
func TestComponentsOfKnownCorrelations(t *testing.T) {
	c := components([][]float64{{4, 1.2, 0.2}, {1.2, 1, 0.3}, {0.2, 0.3, 9}})
	want := principal{
		[]float64{0.53816941, 0.32973939, 0.13209119},
		[][]float64{{0.694694, 0.70304253, 0.15209026}, {-0.16327252, -0.0518005, 0.98522017}, {-0.70053003, 0.70925871, -0.07880203}},
	}
	for k := range want.share {
		sign := math.Copysign(1, dot(c.loading[k], want.loading[k]))
		if math.Abs(c.share[k]-want.share[k]) > 1e-6 {
			t.Errorf("component %d: share %v, not %v", k+1, c.share[k], want.share[k])
		}
		for i, x := range want.loading[k] {
			if math.Abs(sign*c.loading[k][i]-x) > 1e-6 {
				t.Errorf("component %d: loadings %v, not %v", k+1, c.loading[k], want.loading[k])
			}
		}
	}
	for _, bad := range [][][]float64{{{1, 0}, {0, 0}}, {{-1, 0}, {0, 1}}, {{1, math.NaN()}, {math.NaN(), 1}}, {{1, math.Inf(1)}, {math.Inf(1), 1}}} {
		if got := components(bad); got != nil {
			t.Errorf("%v: %+v", bad, got)
		}
	}
}

// Notes name the components without a direction, and say why shares add up to more than 1.
func TestDirectionNotes(t *testing.T) {
	less, whole := &principal{share: []float64{.766, .393, -.159}}, &principal{share: []float64{.7, .2, .1}}
	for _, c := range []struct {
		of     *principal
		hidden []string
		keys   []any
		want   string
	}{
		{whole, nil, nil, ""},
		{less, nil, nil, "Noise moves a share below 0. It is set to 0, so the shares add up to more than 1."},
		{less, nil, []any{"A", nil}, "Noise moves a share of group A · NULL below 0. It is set to 0, so the shares add up to more than 1."},
		{
			whole,
			[]string{"2", "3"},
			[]any{"A"},
			"Noise hides the directions of components 2, 3 of group A because their shares may be equal. Their loadings may be any from -1 to 1.",
		},
	} {
		if got := directionNotes(c.of, c.hidden, c.keys); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

func rowCovariances(rows [][]float64) [][]float64 {
	d, n := len(rows[0]), float64(len(rows))
	mean, out := make([]float64, d), pressZero(d)
	for _, r := range rows {
		for i, x := range r {
			mean[i] += x / n
		}
	}
	for _, r := range rows {
		for i := range d {
			for j := range d {
				out[i][j] += (r[i] - mean[i]) * (r[j] - mean[j]) / (n - 1)
			}
		}
	}
	return out
}

// What has no components is refused before anything is paid, and a count that is too small has none.
func TestDifficultComponents(t *testing.T) {
	for _, columns := range [][]string{nil, {"a"}, make([]string, 21)} {
		if _, err := PlanComponents(context.Background(), nil, Sample{Table: "t", Columns: columns}); err == nil {
			t.Errorf("%d columns: no error", len(columns))
		}
	}
	if _, err := PlanComponents(context.Background(), nil, Sample{
		Request: curator.Request{}, Table: "t", Columns: []string{"a", "b"}, Method: MethodCoinPress,
	}); err == nil {
		t.Error("coinpress is not refused")
	}
	p := &pressed{sums: &pressSums{count: 1, first: [][]float64{{0, 0}}, products: [][][]float64{pressZero(2)}}}
	p.sums.law = vectorLaw{first: make([]noiseLaw, 1), products: make([]noiseLaw, 1), off: make([]noiseLaw, 1)}
	p.forms = plainForms([]float64{0, 0}, []float64{1, 1})
	values, note := componentValues(p, Sample{Columns: []string{"a", "b"}}, nil, nil, .05, func(int) bool { return true })
	if note == "" || values[0].Value != nil {
		t.Errorf("%q, %+v", note, values[0])
	}
}
