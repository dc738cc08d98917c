package synth

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"dither/curator"
	"dither/strategy/together"
)

func questionsOf(sql ...string) (out []Wanted) {
	for _, q := range sql {
		out = append(out, Wanted{SQL: q})
	}
	return out
}

// A workload names the marginals of its questions. Their weights are the numbers of questions, times their own.
func TestWorkload(t *testing.T) {
	c, _ := town(t, inRho, "add-remove", 60, 500)
	r := Request{Table: "people", Rho: "1", Bins: 10, Workload: append(questionsOf(
		"SELECT job, COUNT(*) FROM people GROUP BY job",
		"SELECT COUNT(*) FROM people WHERE age < 30 AND married",
		"SELECT married, COUNT(*) FROM people WHERE age BETWEEN 20 AND 60 GROUP BY married",
		"SELECT COUNT(*) FROM people",
	), Wanted{SQL: "SELECT SUM(size) FROM people WHERE job = 'nurse'", Weight: 7})}
	p, err := Explain(t.Context(), c.Session(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.wanted()); got != "[{[0] 1} {[1 2] 2} {[0 3] 7}]" {
		t.Errorf("the marginals %s", got)
	}
	weights := map[string]int64{}
	all, err := p.workload.Within(nil, math.MaxFloat64)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		weights[name(m.Attributes)] = m.Weight
	}
	// a subset weighs as much as the attributes that it shares with the marginals; each column by itself is one too
	if fmt.Sprint(weights) != "map[[0 3]:16 [0]:8 [1 2]:6 [1]:3 [2]:3 [3]:8]" {
		t.Errorf("the weights %v", weights)
	}
	for _, method := range []Method{AIM, MWEM} {
		r.Method = method
		result, err := Synthesize(t.Context(), c.Session(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range result.Measured {
			if text := strings.Join(m.Columns, " "); len(m.Columns) > 1 && text != "married age" && text != "job size" {
				t.Errorf("%s measures %s, of which no question is", method, text)
			}
		}
	}
}

// The comparison with measuring the questions has the figures of package together, and of noise with equal shares of
// the price.
func TestWorkloadIsCompared(t *testing.T) {
	for _, budget := range []string{inRho, inEpsilon} {
		c, _ := town(t, budget, "add-remove", 61, 100)
		r := Request{Table: "people", Epsilon: "1", Bins: 10, Workload: questionsOf(
			"SELECT job, COUNT(*) FROM people GROUP BY job", "SELECT COUNT(*) FROM people WHERE age < 30 AND married",
		)}
		p, err := Explain(t.Context(), c.Session(), r)
		if err != nil {
			t.Fatal(err)
		}
		d, err := p.Compare(t.Context(), c.Session())
		if err != nil {
			t.Fatal(err)
		}
		of, err := together.Compare(t.Context(), c.Session(), together.Batch{
			Request: curator.Request{Epsilon: "1"}, Questions: []string{r.Workload[0].SQL, r.Workload[1].SQL},
		})
		if err != nil {
			t.Fatal(err)
		}
		// four jobs, and 3 of 10 bins of ages: each answer of the jobs has the noise of one cell
		cell := math.Sqrt(1/(2*0.5)) * math.Sqrt2
		if budget == inEpsilon {
			cell = math.Sqrt2 * 2
		}
		want := cell * math.Sqrt((4+3)/5.0)
		if math.Abs(d.Measured/(of.Measurable.RMSE*of.Deviation)-1) > 1e-9 || math.Abs(d.Synthetic/want-1) > 1e-6 || d.Answers != 5 {
			t.Errorf("%+v, want %v and %v", d, of.Measurable.RMSE*of.Deviation, want)
		}
		if d.Better() != (d.Measured < d.Synthetic) {
			t.Errorf("%+v", d)
		}
		r.Workload = questionsOf("SELECT SUM(age) FROM people", "SELECT COUNT(*) FROM people WHERE married")
		if p, err = Explain(t.Context(), c.Session(), r); err != nil {
			t.Fatal(err)
		}
		if d, err := p.Compare(t.Context(), c.Session()); err != nil || d.Reason == "" || d.Better() {
			t.Errorf("%+v, %v", d, err)
		}
	}
}

// What no synthetic table can answer is refused before anything is spent.
func TestBadWorkloads(t *testing.T) {
	c, _ := town(t, inRho, "add-remove", 62, 100)
	for what, r := range map[string]Request{
		"no question":     {Workload: questionsOf("nothing")},
		"a lacking one":   {Workload: questionsOf("SELECT COUNT(*) FROM people WHERE id < 7")},
		"one left out":    {Columns: []string{"job", "size"}, Workload: questionsOf("SELECT COUNT(*) FROM people WHERE age < 7")},
		"an unknown one":  {Workload: questionsOf("SELECT COUNT(*) FROM people WHERE height < 7")},
		"another table":   {Workload: questionsOf("SELECT COUNT(*) FROM persons")},
		"a join":          {Workload: questionsOf("SELECT COUNT(*) FROM people AS a JOIN people AS b ON a.id = b.id")},
		"a median":        {Workload: questionsOf("SELECT MEDIAN(age) FROM people")},
		"a weight":        {Workload: []Wanted{{SQL: "SELECT COUNT(*) FROM people", Weight: -1}}},
		"a large weight":  {Workload: []Wanted{{SQL: "SELECT COUNT(*) FROM people", Weight: MaxWeight + 1}}},
		"too many":        {Workload: make([]Wanted, MaxWanted+1)},
		"ways too":        {Workload: questionsOf("SELECT COUNT(*) FROM people"), Ways: []int{2}},
		"a method":        {Workload: questionsOf("SELECT COUNT(*) FROM people"), Method: MST},
		"too large a one": {Workload: questionsOf("SELECT age, job, COUNT(*) FROM people WHERE size > 1 GROUP BY age, job"), Bins: 60, ModelBytes: 20_000},
	} {
		r.Table, r.Rho = "people", "1"
		_, err := Synthesize(t.Context(), c.Session(), r)
		var e *curator.Error
		if !errors.As(err, &e) || e.Message == "" {
			t.Errorf("%s: %v", what, err)
		}
		if what == "too large a one" && (e == nil || !strings.Contains(e.Message, "job, age, size has 12400 cells") || !strings.Contains(e.Hint, "--model-size")) {
			t.Errorf("%v", err)
		}
		if spentRho(t, c) != "0" {
			t.Fatalf("%s: %s is spent", what, spentRho(t, c))
		}
	}
}

// FuzzWorkload: no question causes a panic.
func FuzzWorkload(f *testing.F) {
	p := &Plan{Table: "people", Columns: []*Column{{Name: "job"}, {Name: "a \"b\""}}, Omitted: []Omitted{{"id", ""}}}
	for _, text := range []string{
		"SELECT COUNT(*) FROM people WHERE job = 'id''id' AND \"a \"\"b\"\"\" > 3 GROUP BY job", "'", "\"", "\"\"", "it's", "id",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		measure, where, _ := about(text, p.Table)
		for _, part := range []string{text, measure, where} {
			if set, err := p.columnsIn(part); err == nil && len(set) > len(p.Columns) {
				t.Errorf("%q names %v", part, set)
			}
		}
	})
}
