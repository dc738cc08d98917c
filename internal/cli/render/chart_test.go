package render

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dither/curator"
	"dither/internal/plot"
)

func keyColumn(name string) curator.Column { return curator.Column{Name: name, Kind: curator.Key} }

func countColumn(name string) curator.Column {
	return curator.Column{Name: name, Kind: curator.Measure, Mechanism: curator.DiscreteLaplace}
}

func key(k any) curator.Cell { return curator.Cell{Key: k} }

// about is a number ± 10.
func about(n int64) curator.Cell {
	whole := func(n int64) *curator.Number { return &curator.Number{Whole: big.NewInt(n), Real: float64(n)} }
	return curator.Cell{Estimate: &curator.Estimate{Value: whole(n), Low: whole(n - 10), High: whole(n + 10)}}
}

func release(columns []curator.Column, rows ...curator.Row) *curator.Release {
	return &curator.Release{
		SQL: "SELECT …", Confidence: "0.95", Columns: columns, Rows: rows,
		Price: curator.Loss{Epsilon: "0.2"}, Remaining: curator.Loss{Epsilon: "0.8"}, ID: "r1",
	}
}

// values are a panel's numbers, by series; −1 if there is none.
func values(p plot.Panel) [][]float64 {
	out := make([][]float64, len(p.Marks))
	for i, marks := range p.Marks {
		for _, m := range marks {
			v := m.Value
			if m.Missing || math.IsNaN(v) {
				v = -1
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

func TestChartOf(t *testing.T) {
	n := countColumn("n")
	for name, c := range map[string]struct {
		release        *curator.Release
		groups, series []string
		ordered        bool
		values         [][]float64
	}{
		"no key": {release([]curator.Column{n}, curator.Row{about(5)}), []string{""}, nil, false, [][]float64{{5}}},
		"others": {
			release(
				[]curator.Column{keyColumn("agent"), n, keyColumn("other")},
				curator.Row{key("a"), about(5), key(false)},
				curator.Row{key(nil), about(6), key(false)},
				curator.Row{key(nil), about(7), key(true)},
			),
			[]string{"a", "NULL", "others"},
			nil, false,
			[][]float64{{5, 6, 7}},
		},
		"a key that is named other": {
			release(
				[]curator.Column{keyColumn("agent"), n, keyColumn("other")},
				curator.Row{key("a"), about(5), key(false)},
				curator.Row{key("a"), about(6), key(true)},
				curator.Row{key("b"), about(7), key(true)},
			),
			[]string{"a", "b"},
			[]string{"false", "true"},
			false,
			[][]float64{{5, -1}, {6, 7}},
		},
		"text as it comes": {
			release([]curator.Column{keyColumn("k"), n}, curator.Row{key("b"), about(1)}, curator.Row{key("a"), about(2)}, curator.Row{key(nil), about(3)}),
			[]string{"b", "a", "NULL"},
			nil, false,
			[][]float64{{1, 2, 3}},
		},
		"numbers in order, NULL last": {
			release([]curator.Column{keyColumn("k"), n}, curator.Row{key(nil), about(1)}, curator.Row{key(int64(10)), about(2)}, curator.Row{key(int64(9)), about(3)}),
			[]string{"9", "10", "NULL"},
			nil, true,
			[][]float64{{3, 2, 1}},
		},
		"dates in order": {
			release([]curator.Column{keyColumn("k"), n}, curator.Row{key("2024-02-01"), about(1)}, curator.Row{key("2023-12-31"), about(2)}),
			[]string{"2023-12-31", "2024-02-01"},
			nil, true,
			[][]float64{{2, 1}},
		},
		"two keys, a row missing": {
			release(
				[]curator.Column{keyColumn("sex"), n, keyColumn("age")},
				curator.Row{key("f"), about(1), key(3.5)}, curator.Row{key("f"), about(2), key(2.5)}, curator.Row{key("f"), about(3), key(1.5)},
				curator.Row{key("m"), about(4), key(1.5)}, curator.Row{key("m"), about(5), key(2.5)},
			),
			[]string{"1.5", "2.5", "3.5"},
			[]string{"f", "m"},
			true,
			[][]float64{{3, 2, 1}, {4, 5, -1}},
		},
		"a key left out of SELECT": {
			release([]curator.Column{keyColumn("k"), n}, curator.Row{key("a"), about(1)}, curator.Row{key("a"), about(2)}),
			[]string{"a", "a"},
			nil, false,
			[][]float64{{1, 2}},
		},
		"NULL beside 'NULL'": {
			release([]curator.Column{keyColumn("k"), n}, curator.Row{key("NULL"), about(1)}, curator.Row{key(nil), about(2)}),
			[]string{"NULL", "NULL"},
			nil, false,
			[][]float64{{1, 2}},
		},
		"no rows": {release([]curator.Column{keyColumn("k"), n}), nil, nil, false, [][]float64{nil}},
	} {
		t.Run(name, func(t *testing.T) {
			got := ChartOf(c.release)
			if _, err := plot.Text(got, 80, false); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.groups, got.Groups); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.series, got.Series); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.values, values(got.Panels[0])); diff != "" {
				t.Error(diff)
			}
			if got.Ordered != c.ordered {
				t.Errorf("ordered: %v", got.Ordered)
			}
		})
	}
}

// What has no series of few values is named by all its keys; what has too many measures shows the first.
func TestChartOfMuch(t *testing.T) {
	columns := []curator.Column{keyColumn("a"), keyColumn("b")}
	for range plot.MaxPanels + 3 {
		columns = append(columns, countColumn("n"))
	}
	var rows []curator.Row
	for a := range int64(9) {
		for b := range int64(10) {
			row := curator.Row{key(a), key(b)}
			for range plot.MaxPanels + 3 {
				row = append(row, about(a*b))
			}
			rows = append(rows, row)
		}
	}
	c := ChartOf(release(columns, rows...))
	if len(c.Groups) != 90 || c.Groups[11] != "1 · 1" || c.Key != "a · b" || c.Series != nil {
		t.Errorf("%d groups %q of %q, series %q", len(c.Groups), c.Groups[:12], c.Key, c.Series)
	}
	if len(c.Panels) != plot.MaxPanels || !strings.Contains(c.Caption, "the first 12 of 15 columns") {
		t.Errorf("%d panels, %q", len(c.Panels), c.Caption)
	}
}

// A value that is none, and an interval without an end, stay what they are.
func TestMarkOf(t *testing.T) {
	m := MarkOf(&curator.Estimate{High: &curator.Number{Real: 7}})
	if !math.IsNaN(m.Value) || !math.IsInf(m.Low, -1) || m.High != 7 || m.Missing || m.Text != "? [−∞, 7]" {
		t.Errorf("%+v", m)
	}
}
