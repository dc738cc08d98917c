package marginal_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dither/curator"
	"dither/internal/parallel"
	"dither/strategy"
	"dither/strategy/marginal"
)

// adultColumns are the columns of the Adult data set with their numbers of values.
var adultColumns = []marginal.Attribute{
	{Name: "age", Size: 85},
	{Name: "workclass", Size: 9},
	{Name: "fnlwgt", Size: 100},
	{Name: "education", Size: 16},
	{Name: "marital", Size: 7},
	{Name: "occupation", Size: 15},
	{Name: "relationship", Size: 6},
	{Name: "race", Size: 5},
	{Name: "sex", Size: 2},
	{Name: "gain", Size: 100},
	{Name: "loss", Size: 100},
	{Name: "hours", Size: 99},
	{Name: "country", Size: 42},
	{Name: "income", Size: 2},
}

// adultHome seals the Adult data set, and returns a session with its rows. It skips the test without the data.
func adultHome(t testing.TB) (*curator.Session, [][]int) {
	t.Helper()
	text, err := os.ReadFile("../../../shared/data/adult.csv")
	if err != nil {
		t.Skip("needs the Adult data set: ", err)
	}
	records, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]int, len(records)-1)
	for i, r := range records[1:] {
		for _, field := range r {
			rows[i] = append(rows[i], must(strconv.Atoi(field))(t))
		}
	}
	var policy, header strings.Builder
	policy.WriteString(`
version: 1
population: {name: census}
budget: {rho: 1, delta: 1e-9}
tables:
  adult:
    source: {csv: adult.csv}
    unit: row
    columns:
`)
	for i, a := range adultColumns {
		var values []string
		for v := range a.Size {
			values = append(values, strconv.Itoa(v))
		}
		fmt.Fprintf(&policy, "      %s: {type: integer, values: [%s]}\n", a.Name, strings.Join(values, ", "))
		if i > 0 {
			header.WriteString(",")
		}
		header.WriteString(a.Name)
	}
	_, body, _ := strings.Cut(string(text), "\n")
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if err := curator.Init(home); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"policy.yaml": policy.String(), "adult.csv": header.String() + "\n" + body} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	owner := must(curator.Open(home))(t)
	t.Cleanup(func() { _ = owner.Close() })
	must(owner.Seal(context.Background(), "adult", curator.SealOptions{StateHome: dir}))(t)
	return owner.Session(), rows
}

// adultQuestion asks for the histogram over all columns.
func adultQuestion() string {
	var names []string
	for _, a := range adultColumns {
		names = append(names, a.Name)
	}
	return "SELECT COUNT(*) FROM adult GROUP BY " + strings.Join(names, ", ")
}

// processorTime returns the time that the processors have worked for this process, outside the system.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

// TestAdultThreeWay measures all marginals of up to three columns of the Adult data set: 20.9 million numbers in several
// releases, and compares some of their cells with exact counts.
func TestAdultThreeWay(t *testing.T) {
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("set DITHER_LONG=1 to measure 20.9 million numbers")
	}
	s, rows := adultHome(t)
	start, before := time.Now(), processorTime(t)
	step := func(name string) {
		used := processorTime(t) - before
		t.Logf("%s: %.2f s, %.2f s of the processors", name, time.Since(start).Seconds(), used.Seconds())
		start, before = time.Now(), processorTime(t)
	}
	d := must(marginal.NewDomain(adultColumns...))(t)
	p := must(d.Ways(1, 2, 3))(t).Sum(strategy.Rho)
	step("planned")
	r := curator.Request{SQL: adultQuestion(), Rho: "0.5"}
	e := must(p.Measure(t.Context(), s, r))(t)
	step(fmt.Sprintf("measured in %d releases", len(e.Releases)))
	if len(e.Releases) != 6 {
		t.Errorf("%d releases, want 6", len(e.Releases))
	}
	var triples [][]string
	for i := range adultColumns {
		for j := range i {
			for k := range j {
				triples = append(triples, []string{adultColumns[i].Name, adultColumns[j].Name, adultColumns[k].Name})
			}
		}
	}
	var cells atomic.Int64
	parallel.Each(len(triples), func(i int) {
		table, err := e.Marginal(triples[i]...)
		if err != nil {
			t.Error(err)
			return
		}
		cells.Add(int64(len(table.Values)))
	})
	step(fmt.Sprintf("reconstructed %d cells", cells.Load()))
	table := must(e.Marginal("age", "race", "sex"))(t)
	exact := make([]float64, 85*5*2)
	for _, row := range rows {
		exact[(row[0]*5+row[7])*2+row[8]]++
	}
	for i, v := range table.Values {
		if math.Abs(v-exact[i]) > 8*math.Sqrt(table.Variances[i]) {
			t.Errorf("cell %d is %v with a variance of %v, and the exact count is %v", i, v, table.Variances[i], exact[i])
		}
	}
}
