package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
)

const testPolicy = `
version: 1
population: {name: people, neighbours: add-remove}
budget: {epsilon: 100}
price: {default: 1, maximum: 50}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      x: {type: real, bounds: [-1, 1], nullable: true}
      y: {type: real, bounds: [10, 30]}
      n: {type: integer, bounds: [0, 100]}
      word: {type: text, values: [a, b]}
      free: {type: real}
      digit: {type: integer, values: [1, 2, 9]}
      z: {type: integer, bounds: [3, 3]}
`

// testHome is a home with rows "x,y,n" around three places, some of them with a NULL.
func testHome(t testing.TB, edit func(string) string, rows int, more ...string) (*curator.Session, string) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString(strings.Join(append([]string{"x,y,n,word,free,digit,z"}, more...), ",") + "\n")
	for i := range rows {
		at := [][3]float64{{-0.5, 15, 20}, {0.5, 15, 80}, {0.5, 26, 20}}[i%3]
		x := fmt.Sprintf("%.4f", at[0]+0.1*r.NormFloat64())
		if i%50 == 49 {
			x = ""
		}
		fmt.Fprintf(&b, "%s,%.3f,%d,a,1e9,9,3\n", x, at[1]+r.NormFloat64(), int(at[2])+r.IntN(9)-4)
	}
	return testhome.Sealed(t, edit(testPolicy), "t", map[string]string{"t.csv": b.String()})
}

func asItIs(s string) string { return s }

func underRho(s string) string {
	return strings.Replace(strings.Replace(s, "{epsilon: 100}", "{rho: 100, delta: 1e-6}", 1), ", maximum: 50", "", 1)
}

func spentOf(t *testing.T, c *curator.Session) string {
	t.Helper()
	b, err := c.Budget()
	if err != nil {
		t.Fatal(err)
	}
	return b.Spent.String()
}

// Each method finds three places in two and three columns, under ε and under ρ, for its price and no more; again it
// is free and the same.
func TestKMeansThroughTheCurator(t *testing.T) {
	for name, edit := range map[string]func(string) string{"pure": asItIs, "zCDP": underRho} {
		c, _ := testHome(t, edit, 6000)
		places := [][]float64{{-0.5, 15, 20}, {0.5, 15, 80}, {0.5, 26, 20}}
		for _, method := range []string{MethodLloyd, MethodGrid, MethodTree, ""} {
			of := Request{Table: "T", Columns: []string{"x", "y", "n"}, K: 3, Method: method, Epsilon: "6", Seed: 5}
			before := spentOf(t, c)
			got, err := KMeans(t.Context(), c, of)
			if err != nil {
				t.Fatal(name, method, err)
			}
			if got.Replayed != (method == "") || (spentOf(t, c) == before) != (method == "") ||
				len(got.Clusters) != 3 || len(got.Warnings) > 0 {
				t.Fatalf("%s %s: %+v", name, method, got)
			}
			if math.Abs(got.Rows-5880) > 200 {
				t.Errorf("%s %s: %g rows of 5880", name, method, got.Rows)
			}
			for _, p := range places {
				best := math.Inf(1)
				for _, k := range got.Clusters {
					best = min(best, math.Max(math.Abs(k.Centre[0].Value-p[0])/1,
						math.Max(math.Abs(k.Centre[1].Value-p[1])/10, math.Abs(k.Centre[2].Value-p[2])/50)))
				}
				if best > 0.1 {
					t.Errorf("%s %s: no centre is near %v: %+v", name, method, p, got.Clusters)
				}
			}
			for _, k := range got.Clusters {
				for _, x := range append(k.Centre, k.Size) {
					if !(x.Low <= x.Value && x.Value <= x.High) || math.IsInf(x.Low, 0) || math.IsInf(x.High, 0) {
						t.Errorf("%s %s: %+v", name, method, x)
					}
				}
			}
			spent := spentOf(t, c)
			again, err := KMeans(t.Context(), c, of)
			if err != nil || !again.Replayed || spentOf(t, c) != spent ||
				fmt.Sprint(again.Clusters) != fmt.Sprint(got.Clusters) {
				t.Errorf("%s %s: again %v, %v", name, method, again, err)
			}
		}
		if want := map[string]string{
			"pure": "ε = 18",
			"zCDP": "ρ = 54",
		}[name]; !strings.HasPrefix(spentOf(t, c), want) {
			t.Errorf("%s: spent %s, want %s", name, spentOf(t, c), want)
		}
	}
}

func codeOf(err error) curator.Code {
	var e *curator.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Where a row's L1 norm is at most 1 and neighbours change one row, an iteration's counts and sums have the noise of
// the textbook's algorithm: Lap(2/ε′) each, with ε′ = ε/2T; but for the rounding of rows to the grid, by less
// than 1e-6. On [−1, 1]² itself sums have twice that; and under add/remove all is half.
func TestKMeansNoiseIsTheTextbooks(t *testing.T) {
	change := func(s string) string { return strings.Replace(s, "add-remove", "change-one", 1) }
	for _, c := range []struct {
		edit       func(string) string
		radius     string
		count, sum float64 // scales
	}{
		{change, "1", 48, 48},
		{change, "", 48, 96},
		{asItIs, "1", 24, 24},
		{asItIs, "", 24, 48},
	} {
		kernel, _ := testHome(t, c.edit, 10)
		e, err := ExplainKMeans(t.Context(), kernel,
			Request{
				Table: "t", Columns: []string{"x", "y"}, K: 3, Method: MethodLloyd, Epsilon: "0.5",
				Radius: c.radius,
			})
		if err != nil {
			t.Fatal(err)
		}
		look := e.Accesses[0]
		// Of a discrete Laplace law of scale s the variance is 2/(4 sinh²(1/2s)).
		deviation := func(scale float64) float64 { return math.Sqrt(0.5) / math.Sinh(1/(2*scale)) }
		if len(e.Accesses) != 1 || look.Times != 6 || math.Abs(look.Count/deviation(c.count)-1) > 1e-6 {
			t.Errorf("radius %q: %+v", c.radius, look)
		}
		for i, half := range []float64{1, 10} {
			// a sum's unit is far below its noise's scale, whose deviation is √2 of it
			if want := math.Sqrt2 * c.sum * half; math.Abs(look.Sums[i]/want-1) > 1e-6 {
				t.Errorf("radius %q: sum %d has %g, want %g", c.radius, i, look.Sums[i], want)
			}
		}
		if e.Price.Epsilon != "0.5" || spentOf(t, kernel) != "ε = 0" {
			t.Errorf("price %s, spent %s", e.Price, spentOf(t, kernel))
		}
	}
}

// What cannot be done is refused before anything is spent.
func TestKMeansRefuses(t *testing.T) {
	c, _ := testHome(t, asItIs, 10)
	good := Request{Table: "t", Columns: []string{"x", "y"}, K: 2}
	for name, bad := range map[string]struct {
		edit func(*Request)
		code curator.Code
	}{
		"no table":           {func(q *Request) { q.Table = "tt" }, curator.CodeUsage},
		"no columns":         {func(q *Request) { q.Columns = nil }, curator.CodeUsage},
		"unknown column":     {func(q *Request) { q.Columns = []string{"xx"} }, curator.CodeUsage},
		"twice":              {func(q *Request) { q.Columns = []string{"x", "X"} }, curator.CodeUsage},
		"a word":             {func(q *Request) { q.Columns = []string{"word"} }, curator.CodeUsage},
		"no bounds":          {func(q *Request) { q.Columns = []string{"free"} }, curator.CodeUsage},
		"a constant":         {func(q *Request) { q.Columns = []string{"z"} }, curator.CodeUsage},
		"no cluster":         {func(q *Request) { q.K = 0 }, curator.CodeUsage},
		"too many":           {func(q *Request) { q.K = 65 }, curator.CodeUsage},
		"method":             {func(q *Request) { q.Method = "means" }, curator.CodeUsage},
		"iterations of grid": {func(q *Request) { q.Method, q.Iterations = MethodGrid, 3 }, curator.CodeUsage},
		"iterations":         {func(q *Request) { q.Iterations = -1 }, curator.CodeUsage},
		"average":            {func(q *Request) { q.Method, q.Average = MethodLloyd, 7 }, curator.CodeUsage},
		"negative average":   {func(q *Request) { q.Method, q.Average = MethodLloyd, -1 }, curator.CodeUsage},
		"radius":             {func(q *Request) { q.Radius = "-1" }, curator.CodeUsage},
		"no radius":          {func(q *Request) { q.Radius = "NaN" }, curator.CodeUsage},
		"tiny radius":        {func(q *Request) { q.Radius = "1e-40" }, curator.CodePolicy},
		"confidence":         {func(q *Request) { q.Confidence = "1" }, curator.CodeUsage},
		"price":              {func(q *Request) { q.Epsilon = "-1" }, curator.CodeUsage},
		"two prices":         {func(q *Request) { q.Epsilon, q.Rho = "1", "1" }, curator.CodeUsage},
		"price in rho":       {func(q *Request) { q.Rho = "1" }, curator.CodeUsage},
		"above the maximum":  {func(q *Request) { q.Epsilon = "51" }, curator.CodePolicy},
		"no condition":       {func(q *Request) { q.Where = "nothing = 1" }, curator.CodePolicy},
		"no SQL":             {func(q *Request) { q.Where = "x >" }, curator.CodeSQL},
		"a condition and more": {
			func(q *Request) { q.Where = "x > 0) GROUP BY (n"; q.Method = MethodLloyd },
			curator.CodeUsage,
		},
	} {
		q := good
		bad.edit(&q)
		_, err := KMeans(t.Context(), c, q)
		if codeOf(err) != bad.code {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := ExplainKMeans(t.Context(), c, q); codeOf(err) != bad.code {
			t.Errorf("%s, explained: %v", name, err)
		}
		if spentOf(t, c) != "ε = 0" {
			t.Fatalf("%s: spent %s", name, spentOf(t, c))
		}
	}
}

// A budget is never found to be too small halfway; what was paid before is not paid again.
func TestKMeansBudget(t *testing.T) {
	c, _ := testHome(t, func(s string) string {
		return strings.Replace(strings.Replace(s, "{epsilon: 100}", "{epsilon: 10}", 1), ", maximum: 50", "", 1)
	}, 300)
	six := Request{
		Table: "t", Columns: []string{"x", "y"}, K: 3, Method: MethodLloyd, Epsilon: "6",
		Where: "n < 50 -- the young",
	}
	three := six
	three.Iterations, three.Epsilon = 3, "3" // with the first three iterations of six
	if _, err := KMeans(t.Context(), c, three); err != nil || spentOf(t, c) != "ε = 3" {
		t.Fatal(err, spentOf(t, c))
	}
	e, err := ExplainKMeans(t.Context(), c, six)
	if err != nil || e.Unpaid.Epsilon != "3" || e.Price.Epsilon != "6" || e.Replayed || !e.Affordable {
		t.Fatalf("%+v %v", e, err)
	}
	got, err := KMeans(t.Context(), c, six)
	if err != nil || spentOf(t, c) != "ε = 6" || got.Replayed || len(got.Releases) != 6 || len(got.Trace) != 7 {
		t.Fatal(err, spentOf(t, c), got)
	}
	fresh := six
	fresh.Fresh = true
	if _, err := KMeans(t.Context(), c, fresh); codeOf(err) != curator.CodeExhausted || spentOf(t, c) != "ε = 6" {
		t.Errorf("beyond the budget: %v, spent %s", err, spentOf(t, c))
	}
	if e, err := ExplainKMeans(t.Context(), c, fresh); err != nil || e.Affordable || e.Largest != "4" {
		t.Errorf("%+v, %v", e, err)
	}
	again, err := KMeans(t.Context(), c, six)
	if err != nil || !again.Replayed || fmt.Sprint(again.Clusters, again.Trace) != fmt.Sprint(got.Clusters, got.Trace) {
		t.Errorf("again: %v %v", again, err)
	}
	if e, err := ExplainKMeans(t.Context(), c, six); err != nil || !e.Replayed || !e.Affordable || e.Buckets != nil {
		t.Errorf("%+v, %v", e, err)
	}
}

// A table without rows, or whose columns are all NULL, has clusters of noise, with a warning, never a failure.
func TestKMeansOfNothing(t *testing.T) {
	c, _ := testHome(t, asItIs, 0)
	for _, method := range []string{MethodLloyd, MethodGrid, MethodTree} {
		got, err := KMeans(t.Context(), c,
			Request{Table: "t", Columns: []string{"x", "digit"}, K: 5, Method: method, Epsilon: "20"})
		if err != nil || len(got.Warnings) == 0 {
			t.Errorf("%s: %+v %v", method, got, err)
			continue
		}
		text, err := json.Marshal(got)
		if err != nil || strings.Contains(string(text), "NaN") {
			t.Errorf("%s: %s %v", method, text, err)
		}
	}
}

// The longest questions are ones that the kernel takes, so that what was released never makes one that it refuses: the
// most columns and planes, the most divisions of the tree, and the finest grids.
func TestKMeansLongestQuestions(t *testing.T) {
	var declared strings.Builder
	var columns []string
	for i := range mostColumns {
		name := fmt.Sprintf("column number %d", i)
		columns = append(columns, name)
		fmt.Fprintf(&declared, "      %s: {type: real, bounds: [-1000.25, %d.75], nullable: true}\n", name, i)
	}
	c, _ := testHome(t, func(s string) string { return s + declared.String() }, 0, columns...)
	for _, d := range []int{1, 2, 5, 10, mostColumns} {
		s, err := newKernelSource(t.Context(), c,
			Request{Table: "t", Columns: columns[:d], K: 64, Method: MethodTree, Where: "x > 0"})
		if err != nil {
			t.Fatal(err)
		}
		planes := randomPlanes(s.task, make([]float64, d))
		for _, p := range planes {
			for i := range p.normal {
				p.normal[i] = -math.Abs(p.normal[i]) // a sign more
			}
		}
		counts := make([]float64, 1<<len(planes))
		for i := range counts {
			counts[i] = 1e9
		}
		tree, leaf, leaves := growTree(counts, 1, mostDivisions(d))
		if len(planes) != mostPlanes || leaves != mostDivisions(d)+1 {
			t.Errorf("%d columns: %d planes, %d leaves", d, len(planes), leaves)
		}
		looks := []access{
			{kind: bySide, planes: planes},
			{kind: byLeaf, planes: planes, tree: tree, leaf: leaf, leaves: leaves, sums: true},
		}
		if d <= fewColumns {
			looks = append(looks, access{kind: byBucket, buckets: gridBuckets(s.task, 1e12, 1e-9)})
		}
		for _, l := range looks {
			if _, _, err := s.deviation(t.Context(), 0, l); err != nil {
				t.Errorf("%d columns: %s: %v", d, l.kind, err)
			}
		}
	}
}

// Where a person has several rows, each of at most so many counts, and noise is as many times as large.
func TestKMeansOfPersons(t *testing.T) {
	c, _ := testHome(t, func(s string) string {
		return strings.NewReplacer("    unit: row\n", "    unit: n\n    rows_per_unit: 3\n",
			"n: {type: integer, bounds: [0, 100]}", "n: {type: integer}").Replace(s)
	}, 600)
	of := Request{Table: "t", Columns: []string{"x", "y"}, K: 2, Epsilon: "2"}
	for _, method := range []string{MethodLloyd, MethodGrid, MethodTree} {
		of.Method = method
		e, err := ExplainKMeans(t.Context(), c, of)
		if err != nil {
			t.Fatal(err)
		}
		if e.Unit.Column != "n" || e.Unit.MaxRows != 3 {
			t.Errorf("%s: %+v", method, e.Unit)
		}
		if want := math.Sqrt(0.5) / math.Sinh(2.0/12/3/2); method == MethodLloyd &&
			math.Abs(e.Accesses[0].Count/want-1) > 1e-6 {
			t.Errorf("a count has %g, want %g", e.Accesses[0].Count, want)
		}
		if got, err := KMeans(t.Context(), c, of); err != nil || len(got.Clusters) == 0 {
			t.Errorf("%s: %+v, %v", method, got, err)
		}
	}
}
