package post

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"

	"dither/internal/query"
	"dither/internal/value"
	"dither/noise"
)

// manyRows returns rows with columns m, n and s, without noise in their values.
func manyRows(t *testing.T, groups int) (out [][]Cell) {
	t.Helper()
	law, err := noise.NewDiscreteLaplace(big.NewRat(80, 1))
	if err != nil {
		t.Fatal(err)
	}
	n := &Noise{Law: law, Unit: 1}
	for i := range groups {
		out = append(out, []Cell{
			Exact(value.OfInt(int64(i + 1))), Released(value.OfInt(int64(500+i*13%1000)), 2*i, n),
			Released(value.OfReal(float64(2000+i)), 2*i+1, n),
		})
	}
	return out
}

func times(n int, item string) string { return "SELECT " + strings.Repeat(item+", ", n-1) + item }

// Programs that would compute too much are refused by their text and the number of rows, before anything is computed.
func TestLargeProgramsAreRefused(t *testing.T) {
	const frame = "OVER (ORDER BY m ROWS BETWEEN 1000 PRECEDING AND 1000 FOLLOWING)"
	for _, c := range []struct {
		sql  string
		rows int
		want string // in the refusal; "" if the program fits
	}{
		{times(100, "rpad(m::text, 4000)"), 2000, "columns and texts"},
		{times(10, "rpad(m::text, 4000)"), 2000, ""},
		{times(100, "repeat('x', n)"), 2000, "columns and texts"},
		{times(100, "upper(m::text)"), 2000, ""},
		{"SELECT m::text LIKE '%" + strings.Repeat("1%", 2000) + "'", 10_000, "take too long"},
		{times(400, "n"), 10_000, "columns and texts"},
		{times(100, "n"), 10_000, ""},
		{times(5, "MIN(n) "+frame), 10_000, "frames"},
		{times(5, "MIN(n) "+frame), 2000, ""},
		{times(50, "SUM(n) OVER (ORDER BY m)"), 10_000, ""},
		{times(110, "round(round(round(s, 3), 2), 1)"), 10_000, "take too long"},
	} {
		err := boundForm(t, c.sql+measuredForm).Fits(c.rows)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.60s over %d rows: %v", c.sql, c.rows, err)
		}
	}
}

// A program runs if the texts of its rows are short, even if texts of the greatest length would be too large.
func TestShortTextsFit(t *testing.T) {
	tree, err := query.Parse(times(30, "upper(k)") + " FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) q")
	if err != nil {
		t.Fatal(err)
	}
	p := Split(tree, func(*query.Select, string) bool { return false })
	bound, err := p[len(p)-1].Bind([]Column{{Type: value.Text}, {Type: value.Integer}}, 5000, "")
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]Cell, 5000)
	for i := range rows {
		rows[i] = []Cell{Exact(value.OfText("short")), Exact(value.OfInt(1))}
	}
	if err := bound.Fits(len(rows)); err == nil {
		t.Error("texts of the greatest length fit")
	}
	if got := computed(t, bound, rows).Rows[0][0].Value.Text; got != "SHORT" {
		t.Errorf("the first text is %q", got)
	}
	rows[77][0] = Exact(value.OfText(strings.Repeat("x", value.MaxTextBytes)))
	if _, err := bound.Run(t.Context(), 0.05, rows); err == nil {
		t.Error("a long text fits")
	}
}

// Nested lists with several * have at most so many columns that binding them takes no time.
func TestStarsDoNotMultiply(t *testing.T) {
	from := measuredForm
	for range 10 {
		from = " FROM (SELECT *, *" + from + ") z"
	}
	tree, err := query.Parse("SELECT 1" + from)
	if err != nil {
		t.Fatal(err)
	}
	programs := Split(tree, func(*query.Select, string) bool { return false })
	_, err = programs[len(programs)-1].Bind([]Column{{Type: value.Integer}, {Type: value.Integer}, {Type: value.Integer}}, 1, "")
	if err == nil || !strings.Contains(err.Error(), "at most 1000 columns") {
		t.Errorf("the error is %v", err)
	}
}

// A program that its caller cancels ends with the caller's error.
func TestCancelledPrograms(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := boundForm(t, "SELECT SUM(n) OVER (ORDER BY m)"+measuredForm).Run(ctx, 0.05, manyRows(t, 2000))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// The shares of 10,000 groups have intervals, and so has their total.
func TestSharesOfManyGroups(t *testing.T) {
	rows := manyRows(t, 10_000)
	got := computed(t, boundForm(t, "SELECT 100.0 * n / SUM(n) OVER (), SUM(n) OVER ()"+measuredForm), rows)
	for i, row := range got.Rows {
		for j, s := range row {
			if x := number(s.Value); s.Interval == nil || s.Interval.Low > x || s.Interval.High < x {
				t.Fatalf("row %d, column %d: %v in %v", i, j, s.Value, s.Interval)
			}
		}
	}
}
