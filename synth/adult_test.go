package synth

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
)

const adultData = "../../shared/data/"

// TestAdult synthesizes the census table of the published figures through the kernel, and compares the mean total
// variation distances of all marginals of two and three columns of at most 10⁴ cells, in the mean of several runs. At δ
// = 1e-9, the published means of ten runs are .116 and .164 at ε = 0.1 for AIM with a model of 1 MB, .042 and .066 at ε
// = 1, and .023 and .043 at ε = 10. At ε = 1 they are .052 and .094 for MST, and .080 and .188 for independent columns.
// The limits are at least four standard deviations of the mean above what these runs have. So each fails by chance with
// probability below 1e-4.
func TestAdult(t *testing.T) {
	compareAdult(t, []adultCase{
		{Independent, "1", 0, 1, .082, .190},
		{MST, "1", 0, 3, .0525, .098},
		{AIM, "0.1", 0, 10, .119, .160},
		{AIM, "1", 0, 10, .042, .0675},
		{AIM, "10", 0, 10, .0235, .0425},
	})
}

// TestAdultLargerModel does the same with models of 16 MB. The limits are those of models of 1 MB.
func TestAdultLargerModel(t *testing.T) {
	compareAdult(t, []adultCase{{AIM, "1", 1 << 24, 3, .042, .0675}, {AIM, "10", 1 << 24, 1, .0235, .0425}})
}

// adultCase is a method with its limits on the distances of pairs and triples.
type adultCase struct {
	method     Method
	epsilon    string
	modelBytes float64 // 0: the default, 1 MB
	runs       int
	two, three float64
}

func compareAdult(t *testing.T, cases []adultCase) {
	t.Helper()
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("it takes minutes: set DITHER_LONG=1")
	}
	text, err := os.ReadFile(adultData + "adult.csv")
	sizes, err2 := os.ReadFile(adultData + "adult-domain.json")
	if err != nil || err2 != nil {
		t.Skip("the census table is not here: ", err, err2)
	}
	var size map[string]int
	if err := json.Unmarshal(sizes, &size); err != nil {
		t.Fatal(err)
	}
	real := coded(t, string(text))
	names := strings.Split(strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[0]), ",")
	c := census(t, names, size, string(text))
	cells := make([]int, len(names))
	for i, n := range names {
		cells[i] = size[n]
	}
	for _, of := range cases {
		r := Request{
			Table: "census", Method: of.method, Epsilon: of.epsilon, Delta: "1e-9", Bins: 100, Fresh: true, ModelBytes: of.modelBytes,
		}
		two, three, seconds, cpu := 0.0, 0.0, 0.0, 0.0
		for range of.runs {
			before, _ := used(t)
			result, err := Synthesize(t.Context(), c.Session(), r)
			if err != nil {
				t.Fatal(of.method, err)
			}
			after, _ := used(t)
			cpu += (after - before) / float64(of.runs)
			var b strings.Builder
			if err := result.WriteCSV(&b); err != nil {
				t.Fatal(err)
			}
			made := coded(t, b.String())
			two += variation(real, made, cells, 2) / float64(of.runs)
			three += variation(real, made, cells, 3) / float64(of.runs)
			seconds += result.Seconds / float64(of.runs)
		}
		_, memory := used(t)
		t.Logf("%s at ε = %s, model %v bytes: %.4f / %.4f in the mean of %d runs, of %.1f s and %.1f s of processors; at most %d MiB so far",
			of.method, of.epsilon, of.modelBytes, two, three, of.runs, seconds, cpu, memory)
		if two > of.two || three > of.three {
			t.Errorf("%s at ε = %s: %.4f / %.4f, above %v / %v", of.method, of.epsilon, two, three, of.two, of.three)
		}
	}
}

// used returns the seconds of processors and the largest memory that this program has used so far, in MiB.
func used(t *testing.T) (seconds float64, memory int64) {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, u.Maxrss >> 10
}

// census returns the owner of a home with the table. Each row is a unit.
func census(t *testing.T, names []string, size map[string]int, text string) *curator.Owner {
	t.Helper()
	policy := `
version: 1
population: {name: census, neighbours: add-remove}
budget: {rho: 20, delta: 1e-9}
price: {default: 1, maximum: 4, minimum: 0.01}
tables:
  census:
    source: {csv: census.csv}
    unit: row
    columns:
`
	for _, n := range names {
		policy += fmt.Sprintf("      %q: {type: integer, bounds: [0, %d]}\n", n, size[n]-1)
	}
	c, _ := testhome.Opened(t, testhome.Files(policy, map[string]string{"census.csv": text}), "census")
	return c
}

// coded returns the columns of a table of integers.
func coded(t *testing.T, text string) (columns [][]int) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns = make([][]int, len(rows[0]))
	for _, row := range rows[1:] {
		for i, v := range row {
			n, err := strconv.Atoi(v)
			if err != nil {
				t.Fatal(err)
			}
			columns[i] = append(columns[i], n)
		}
	}
	return columns
}

// variation returns the mean total variation distance of all marginals of k columns with at most 10⁴ cells.
func variation(a, b [][]int, sizes []int, k int) (mean float64) {
	n := 0
	for _, set := range subsets(len(sizes), k, math.MaxInt) {
		cells := 1
		for _, i := range set {
			cells *= sizes[i]
		}
		if cells > 10_000 {
			continue
		}
		x, y := shares(a, set, sizes, cells), shares(b, set, sizes, cells)
		for i := range x {
			mean += math.Abs(x[i]-y[i]) / 2
		}
		n++
	}
	return mean / float64(n)
}

// shares returns the share of rows in each cell.
func shares(columns [][]int, set, sizes []int, cells int) []float64 {
	out, at := make([]float64, cells), slices.Repeat([]int{0}, len(columns[0]))
	for _, i := range set {
		for row, v := range columns[i] {
			at[row] = at[row]*sizes[i] + v
		}
	}
	for _, cell := range at {
		out[cell] += 1 / float64(len(at))
	}
	return out
}
