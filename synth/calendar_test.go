package synth

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dither/curator"
	"dither/internal/splitmix"
	"dither/internal/testhome"
)

const calendar = `
version: 1
population: {name: town, neighbours: add-remove}
budget: {rho: 100, delta: 1e-6}
price: {default: 1, maximum: 14}
tables:
  people:
    source: {csv: people.csv}
    unit: id
    rows_per_unit: 1
    columns:
      id: {type: integer}
      born: {type: date, bounds: [1930-01-01, 2009-12-31], nullable: true}
      paid: {type: date, bounds: [2020-01-30, 2020-02-03]}
      seen: {type: timestamp, bounds: ["2020-01-01 00:00:00.25", "2020-12-31 23:59:59.75"], nullable: true}
      rises: {type: time, bounds: ["05:10:00", "10:00:00"]}
      married: {type: boolean, nullable: true}
      other: {type: date}
`

// calendarTown returns a session over made-up people, and their rows. A fifth of the births and a tenth of the
// marriages are NULL. Married people are born before 1980, are seen in the last quarter, and rise before six.
func calendarTown(t *testing.T) (*curator.Session, [][]string) {
	t.Helper()
	words := splitmix.At(splitmix.Mix(7))
	var rows [][]string
	text := "id,born,paid,seen,rises,married,other\n"
	for i := range 2000 {
		married := i%10 < 4
		born := time.Date(1980, 1, 1+words.Below(9000), 0, 0, 0, 0, time.UTC)
		seen := time.Date(2020, 1, 2+words.Below(180), 12, words.Below(60), 0, 0, time.UTC)
		rises := 6*3600 + words.Below(4*3600)
		if married {
			born = born.AddDate(-40, 0, 0)
			seen = time.Date(2020, 10, 1+words.Below(90), 12, words.Below(60), 0, 0, time.UTC)
			rises = 5*3600 + 10*60 + words.Below(50*60)
		}
		row := []string{
			born.Format(time.DateOnly), fmt.Sprintf("2020-02-0%d", 1+i%2), seen.Format(time.DateTime),
			fmt.Sprintf("%02d:%02d:%02d", rises/3600, rises/60%60, rises%60), fmt.Sprint(married),
		}
		if i%5 == 0 {
			row[0] = ""
		}
		if i%10 == 1 || i%10 == 8 && i%4 == 0 {
			row[4] = ""
		}
		rows = append(rows, row)
		text += fmt.Sprintf("%d,%s,2020-01-01\n", i, strings.Join(row, ","))
	}
	c, _ := testhome.Opened(t, testhome.Files(calendar, map[string]string{"people.csv": text}), "people")
	return c.Session(), rows
}

// Dates and times are drawn within their bounds, and shares of NULL and relations to other columns are kept. The noise
// of a cell has a standard deviation below 2, of 2,000 rows. Each checked share adds at most 100 cells, so a tolerance
// of 0.05 is more than five standard deviations, and a false alarm has a probability below 1e-6.
func TestCalendar(t *testing.T) {
	c, real := calendarTown(t)
	r, err := Synthesize(t.Context(), c, Request{
		Table: "people", Rho: "14", Cliques: [][]string{{"born", "married"}, {"seen", "married"}, {"rises", "married"}, {"paid"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if o := r.Plan.Omitted; len(o) != 2 || o[1].Name != "other" || !strings.Contains(o[1].Reason, "neither values nor bounds") {
		t.Errorf("left out: %v", o)
	}
	rows := drawn(t, r)
	bounds := [][2]string{
		{"1930-01-01", "2009-12-31"},
		{"2020-01-30", "2020-02-03"},
		{"2020-01-01 00:00:00.25", "2020-12-31 23:59:59.75"},
		{"05:10:00", "10:00:00"},
	}
	for i, kind := range []string{"date", "date", "timestamp", "time"} {
		different := map[string]bool{}
		for _, row := range rows {
			if row[i] == "" {
				continue
			}
			if _, err := time.Parse(layouts[kind], row[i]); err != nil || row[i] < bounds[i][0] || row[i] > bounds[i][1] {
				t.Fatalf("%s is not a %s between %v", row[i], kind, bounds[i])
			}
			different[row[i]] = true
		}
		if i != 1 && len(different) < 1000 {
			t.Errorf("column %d has %d values: they are drawn within bins", i, len(different))
		}
	}
	for name, of := range map[string]func(row []string) bool{
		"no birth":              func(row []string) bool { return row[0] == "" },
		"no marriage":           func(row []string) bool { return row[4] == "" },
		"married":               func(row []string) bool { return row[4] == "true" },
		"born before 1965":      func(row []string) bool { return row[0] != "" && row[0] < "1965" },
		"married and early":     func(row []string) bool { return row[4] == "true" && row[0] != "" && row[0] < "1975" },
		"not married and early": func(row []string) bool { return row[4] == "false" && row[0] != "" && row[0] < "1975" },
		"paid on the first":     func(row []string) bool { return row[1] == "2020-02-01" },
		"seen late and married": func(row []string) bool { return row[2] > "2020-08" && row[4] == "true" },
		"seen late":             func(row []string) bool { return row[2] > "2020-08" },
		"rises at six":          func(row []string) bool { return row[3] > "06" && row[3] < "07" },
		"rises early, married":  func(row []string) bool { return row[3] < "06" && row[4] == "true" },
	} {
		if a, b := share(real, of), share(rows, of); math.Abs(a-b) > 0.05 {
			t.Errorf("%s: %.3f of the real rows, and %.3f of the synthetic ones", name, a, b)
		}
	}
}

func share(rows [][]string, of func([]string) bool) float64 {
	n := 0
	for _, row := range rows {
		if of(row) {
			n++
		}
	}
	return float64(n) / float64(len(rows))
}

// A table of one column keeps its rows of NULL as CSV: readers skip empty lines.
func TestOneColumnWithNULL(t *testing.T) {
	c, real := calendarTown(t)
	r, err := Synthesize(t.Context(), c, Request{Table: "people", Rho: "10", Method: Independent, Columns: []string{"married"}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || int64(len(rows)-1) != r.Rows {
		t.Fatalf("%d rows instead of %d: %v", len(rows)-1, r.Rows, err)
	}
	none := func(column int) func(row []string) bool { return func(row []string) bool { return row[column] == "" } }
	if a, b := share(real, none(4)), share(rows[1:], none(0)); math.Abs(a-b) > 0.02 {
		t.Errorf("%.3f of the real rows are NULL, and %.3f of the synthetic ones", a, b)
	}
}

// Bins of dates and times cover the bounds without gaps, whatever the bounds are.
func TestCalendarBins(t *testing.T) {
	for _, c := range []curator.TableColumn{
		{Type: "date", Lower: "0001-01-01", Upper: "9999-12-31"},
		{Type: "date", Lower: "1969-12-30", Upper: "1970-01-02"},
		{Type: "date", Lower: "1960-02-29", Upper: "1960-04-01"},
		{Type: "timestamp", Lower: "0001-01-01 00:00:00", Upper: "9999-12-31 23:59:59.999999"},
		{Type: "timestamp", Lower: "1969-12-31 23:59:59.999999", Upper: "1970-01-01 00:00:01"},
		{Type: "timestamp", Lower: "2020-01-01 00:00:00.5", Upper: "2020-01-01 00:00:00.5"},
		{Type: "time", Lower: "00:00:00", Upper: "23:59:59.999999"},
		{Type: "time", Lower: "23:59:59.5", Upper: "23:59:59.75"},
	} {
		c.Name = "x"
		column, reason := columnOf(&c, 32, "x")
		if reason != "" {
			t.Errorf("%v: %s", c, reason)
			continue
		}
		if !column.Binned {
			continue
		}
		next, cells := column.lower.Num().Int64(), 0
		for i := range int64(1 << 17) {
			low := integer(i)
			low.Mul(low, column.width).Add(low, column.origin)
			if low.Cmp(column.upper) > 0 {
				break
			}
			if low.Add(low, column.width).Cmp(column.lower) <= 0 {
				continue // a bin before the bounds
			}
			_, ends, _ := column.bin(fmt.Sprint(i))
			if ends[0] != next || ends[1] < ends[0] {
				t.Fatalf("%v: bin %d is %v instead of from %d", c, i, ends, next)
			}
			next, cells = ends[1]+1, cells+1
		}
		last := column.upper.Num().Int64()
		if next != last+1 || cells > 33 {
			t.Errorf("%v: %d bins end at %d instead of %d", c, cells, next-1, last)
		}
		if first := column.written(column.lower.Num().Int64()); first != c.Lower {
			t.Errorf("%v: the first value is %s", c, first)
		}
	}
	for _, c := range []curator.TableColumn{{Type: "date", Lower: "x", Upper: "y"}, {Type: "date", Lower: "2020-01-02", Upper: "2020-01-01"}} {
		if _, reason := columnOf(&c, 32, "x"); !slices.Contains([]string{"its bounds are not a date"}, reason) {
			t.Errorf("%v: %q", c, reason)
		}
	}
}
