package curator

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A quantile of timestamps is a timestamp between the ends of its interval, near the truth at a high price.
func TestQuantilesOfTimestamps(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", `
version: 1
population: {name: clocks}
budget: {epsilon: 1000}
price: {default: 1, maximum: 200}
tables:
  seen: {source: {csv: seen.csv}, unit: row, columns: {at: {type: timestamp, bounds: [2025-01-01, 2025-12-31 23:59:59]}, c: {type: time}}}
`)
	rows := "at,c\n"
	for i := range 1000 {
		rows += fmt.Sprintf("2025-06-15 12:%02d:%02d,08:%02d:00\n", i/60%60, i%60, i%60)
	}
	write(t, home, "seen.csv", rows)
	c := openHome(t, home)
	if _, err := c.Seal(t.Context(), "seen", SealOptions{}); err != nil {
		t.Fatal(err)
	}
	r, err := c.Answer(t.Context(), Question{SQL: "SELECT MEDIAN(at) AS m, PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY c) AS c FROM seen", Epsilon: "200"})
	if err != nil {
		t.Fatal(err)
	}
	// with ε = 100 for each, a draw is off by more than ten of the thousand rows with probability below e^-300
	m, high := r.Rows[0][0].Estimate, r.Rows[0][1].Estimate
	if got := *m.Value.Text; !strings.HasPrefix(got, "2025-06-15 12:08:") {
		t.Errorf("the median is %s", got)
	}
	if *m.Low.Text > *m.Value.Text || *m.Value.Text > *m.High.Text || !strings.HasPrefix(*m.Low.Text, "2025-06-15 12:") {
		t.Errorf("its interval is %s to %s", *m.Low.Text, *m.High.Text)
	}
	if got := *high.Value.Text; !strings.HasPrefix(got, "08:5") {
		t.Errorf("the high quantile is %s", got)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT MEDIAN(at) AS m FROM seen HAVING MEDIAN(at) > '2025-06-01 00:00:00' ORDER BY m"}); err != nil {
		t.Error(err)
	}
	// a SELECT over the answer reads a timestamp and a time too, with the same intervals, and computes with them
	over, err := c.Answer(t.Context(), Question{SQL: "SELECT m, q.c, date_trunc('day', m), EXTRACT(hour FROM q.c) FROM " +
		"(SELECT MEDIAN(at) AS m, PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY c) AS c FROM seen) q", Epsilon: "200"})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range []*Estimate{m, high} {
		got := over.Rows[0][i].Estimate
		if *got.Value.Text != *e.Value.Text || *got.Low.Text != *e.Low.Text || *got.High.Text != *e.High.Text {
			t.Errorf("over the answer: %s [%s, %s]", *got.Value.Text, *got.Low.Text, *got.High.Text)
		}
	}
	if got := *over.Rows[0][2].Estimate.Value.Text; got != "2025-06-15 00:00:00" {
		t.Errorf("the day of the median is %s", got)
	}
	if got := over.Rows[0][3].Estimate.Value.Real; got != 8 {
		t.Errorf("the hour of the high quantile is %v", got)
	}
}
