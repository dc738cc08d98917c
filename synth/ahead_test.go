package synth

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/splitmix"
	"dither/internal/testhome"
)

const shopPolicy = `
version: 1
population: {name: shop, neighbours: NEIGHBOURS}
budget: {rho: 100, delta: 1e-6, selection_delta: 5e-7}
price: {default: 1, maximum: 14, delta: 1e-8}
tables:
  sales:
    source: {csv: sales.csv}
    unit: id
    rows_per_unit: 1
    columns:
      id: {type: integer}
      income: {type: integer, bounds: [0, 1000000]}
      rate: {type: real, bounds: [0, 1000]}
      day: {type: date, bounds: [2020-01-01, 2023-12-31]}
      city: {type: text, nullable: true}
      rich: {type: boolean}
`

// shop is a home of sales with skewed numbers: most incomes are below a hundredth of their bound, and a third are 0. Who
// has more than 4,000 is rich.
func shop(t *testing.T, neighbours string, rows int) *curator.Session {
	t.Helper()
	words := splitmix.At(5)
	text := "id,income,rate,day,city,rich\n"
	for i := range rows {
		income := 0
		if words.Below(3) > 0 {
			income = int(min(1e6, 2000*math.Exp(1.1*normal(&words))))
		}
		city := []string{"Rome", "Oslo", "Bergen", "", fmt.Sprint("hamlet ", i)}[min(words.Below(9)/2, 4)]
		text += fmt.Sprintf("%d,%d,%.3f,2023-%02d-%02d,%s,%t\n", i, income, math.Exp(normal(&words)), 1+words.Below(12), 1+words.Below(28), city, income > 4000)
	}
	c, _ := testhome.Sealed(t, strings.Replace(shopPolicy, "NEIGHBOURS", neighbours, 1), "sales", map[string]string{"sales.csv": text})
	return c
}

// Private edges and values are steps of the one release, at its price. With the same budget, the rows are nearer to a
// relation of a skewed number than with bins of equal width.
func TestPrivateEdgesAndValues(t *testing.T) {
	c := shop(t, "add-remove", 4000)
	wrong := func(r Request) float64 {
		result, err := Synthesize(t.Context(), c, r)
		if err != nil {
			t.Fatal(err)
		}
		rows, n := drawn(t, result), 0
		for _, row := range rows {
			if income, _ := strconv.Atoi(row[0]); (income > 4000) != (row[len(row)-1] == "true") {
				n++
			}
		}
		return float64(n) / float64(len(rows))
	}
	r := Request{Table: "sales", Rho: "1", Method: MST, Bins: 12, Columns: []string{"income", "rich"}}
	even := wrong(r)
	r.PrivateEdges = []string{"income"}
	private := wrong(r)
	t.Logf("%.3f of the rows are wrong with private edges, and %.3f with equal bins", private, even)
	if private > 0.1 || even < 0.15 {
		t.Errorf("%.3f of the rows are wrong with private edges, and %.3f with equal bins", private, even)
	}
	r = Request{
		Table: "sales", Rho: "1", Method: AIM, Bins: 8, PrivateEdges: []string{"income", "rate", "day"}, PrivateValues: []string{"city"},
	}
	p, err := Explain(t.Context(), c, r)
	if err != nil || p.Ahead != 4 || p.Price.Rho != "1" || !strings.Contains(p.Price.String(), "0.00000051") || !p.Private(p.named("city")) || p.named("city").Cells != 9 {
		t.Fatalf("%+v, %v", p, err)
	}
	before, err := c.Budget()
	if err != nil {
		t.Fatal(err)
	}
	result, err := Synthesize(t.Context(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	after, err := c.Budget()
	if err != nil || before.Spent.Rho != "2" || after.Spent.Rho != "3" {
		t.Errorf("%s and then %s are spent, %v", before.Spent, after.Spent, err)
	}
	if got := fmt.Sprint(result.Values); got != "map[city:[Bergen Oslo Rome]]" {
		t.Errorf("values %s", got)
	}
	for name, edges := range result.Edges {
		if len(edges) < 3 || len(edges) > 7 || len(edges)+1 > result.Plan.named(name).Cells {
			t.Errorf("%s: edges %v, %d cells", name, edges, result.Plan.named(name).Cells)
		}
	}
	cities := map[string]int{}
	for _, row := range drawn(t, result) {
		cities[row[3]]++
	}
	if len(cities) != 5 || cities[Other] < 300 || cities[""] < 500 {
		t.Errorf("cities %v", cities)
	}
	// the same request again, free; and the chosen cells give the marginals of the release
	again, err := Synthesize(t.Context(), c, r)
	if err != nil || !again.Replayed || fmt.Sprint(again.Edges, again.Values) != fmt.Sprint(result.Edges, result.Values) {
		t.Errorf("%+v, %v", again, err)
	}
	from, err := Synthesize(t.Context(), c, Request{Table: "sales", Bins: 8, Edges: result.Edges, Values: result.Values, From: []string{result.Release}})
	if err != nil || len(from.Measured) == 0 {
		t.Errorf("%+v, %v", from, err)
	}
}

// Private choices work with each method, under change-one and with few rows, and a home without δ has no private values.
func TestPrivateChoicesOfEachMethod(t *testing.T) {
	c := shop(t, "change-one", 60)
	for _, r := range []Request{
		{Method: MWEM, Columns: []string{"income", "city"}},
		{Method: Independent},
		{Method: Fixed, Cliques: [][]string{{"city", "rich"}}},
		{Method: AIM, Constraints: []string{"income < 100 => NOT rich"}},
		{Method: MST},
	} {
		r.Table, r.Rho, r.Bins, r.PrivateEdges, r.PrivateValues = "sales", "0.1", 4, []string{"income"}, []string{"city"}
		result, err := Synthesize(t.Context(), c, r)
		if err != nil {
			t.Errorf("%s: %v", r.Method, err)
			continue
		}
		drawn(t, result)
	}
}

// Choices that cannot be made are refused before anything is spent.
func TestPrivateChoicesRefuse(t *testing.T) {
	c := shop(t, "add-remove", 30)
	for name, of := range map[string]struct {
		r    Request
		want string
	}{
		"a text":         {Request{PrivateEdges: []string{"city"}, Values: map[string][]string{"city": {"Rome"}}}, "cannot have private edges"},
		"nothing":        {Request{PrivateEdges: []string{"nobody"}}, "cannot have private edges"},
		"twice":          {Request{PrivateEdges: []string{"income", "income"}}, "given twice"},
		"declared":       {Request{PrivateEdges: []string{"income"}, Edges: map[string][]string{"income": {"5"}}}, "given twice"},
		"values of both": {Request{PrivateValues: []string{"city"}, Values: map[string][]string{"city": {"Rome"}}}, "given twice"},
		"a number":       {Request{PrivateValues: []string{"income"}}, "it is no text"},
		"a constraint":   {Request{PrivateValues: []string{"city"}, Constraints: []string{"city = 'Rome' => rich"}}, "not known yet"},
		"few values":     {Request{PrivateEdges: []string{"rich"}}, "cannot have private edges"},
		"earlier":        {Request{PrivateEdges: []string{"income"}, From: []string{"r1"}}, "choosing edges and values is not"},
	} {
		r := of.r
		r.Table = "sales"
		if len(r.From) == 0 {
			r.Rho = "1"
		}
		if _, err := Synthesize(t.Context(), c, r); err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := c.Budget(); err != nil || b.Spent.Rho != "0" {
		t.Errorf("%v is spent, %v", b.Spent, err)
	}
}

// Edges are ascending values of the column within its bounds, and heaps have bins of their own.
func TestEdgesAtQuantiles(t *testing.T) {
	at := func(texts ...string) (out []*big.Rat) {
		for _, text := range texts {
			x, _ := new(big.Rat).SetString(text)
			out = append(out, x)
		}
		return out
	}
	for name, of := range map[string]struct {
		column    curator.TableColumn
		quantiles []*big.Rat
		want      string
	}{
		"integers": {curator.TableColumn{Type: "integer", Lower: "10", Upper: "99"}, at("0", "0", "5", "7", "7", "89", "90"), "11,15,17,18,99"},
		"reals":    {curator.TableColumn{Type: "real", Lower: "-1", Upper: "1"}, at("0.3333333333", "0", "1.2", "1.2", "2"), "-0.66667,0.2"},
		"dates":    {curator.TableColumn{Type: "date", Lower: "2020-01-01", Upper: "2023-12-31"}, at("0", "31", "31"), "2020-02-01,2020-02-02"},
		"times":    {curator.TableColumn{Type: "time", Lower: "08:00:00", Upper: "20:00:00"}, at("30000", "36000.5"), "08:20:00,10:00:00"},
		"halves":   {curator.TableColumn{Type: "timestamp", Lower: "2020-01-01 00:00:00.5", Upper: "2020-12-31 00:00:00"}, at("60"), "2020-01-01 00:01:00"},
		"instants": {curator.TableColumn{Type: "timestamp", Lower: "2020-01-01 00:00:00", Upper: "2020-12-31 00:00:00"}, at("60"), "2020-01-01 00:01:00"},
	} {
		of.column.Name = "x"
		c, reason := columnOf(&of.column, 4, "x")
		if reason != "" {
			t.Fatal(reason)
		}
		edges := c.edgesAt(of.quantiles)
		if got := strings.Join(edges, ","); got != of.want {
			t.Errorf("%s: %s, want %s", name, got, of.want)
		}
		if err := c.declared(slices.Clone(edges)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What private choices may lead to is refused before anything is spent: more cells than bins of equal width have, and more
// words than a question has. Values that are too long for the question become Other.
func TestPrivateChoicesFitBeforeTheyArePaid(t *testing.T) {
	text, words := "id,a,b,c,d,x,y\n", splitmix.At(5)
	for i := range 3000 {
		long := strings.Repeat("x", 140) + strconv.Itoa(100+i%40)
		text += fmt.Sprintf("%d,%d,%d,%d,%d,%s,%s\n", i, words.Below(65), words.Below(65), words.Below(65), words.Below(65), long, long)
	}
	columns := "      x: {type: text}\n      y: {type: text}\n"
	for _, name := range []string{"a", "b", "c", "d"} {
		columns += "      " + name + ": {type: integer, bounds: [0, 64]}\n"
	}
	before, _, _ := strings.Cut(strings.Replace(shopPolicy, "NEIGHBOURS", "add-remove", 1), "      income")
	c, _ := testhome.Sealed(t, before+columns, "sales", map[string]string{"sales.csv": text})
	for _, r := range []Request{
		{Bins: 64, Cliques: [][]string{{"a", "b", "c"}}, PrivateEdges: []string{"a", "b", "c"}},
		{Bins: 41, Method: MWEM, Columns: []string{"a", "b", "c", "d"}, PrivateEdges: []string{"a", "b", "c", "d"}},
	} {
		r.Table, r.Rho = "sales", "1"
		if _, err := Synthesize(t.Context(), c, r); err == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
	if b, err := c.Budget(); err != nil || b.Spent.Rho != "0" {
		t.Errorf("%v is spent, %v", b.Spent, err)
	}
	result, err := Synthesize(t.Context(), c, Request{Table: "sales", Rho: "10", Method: Independent, PrivateValues: []string{"x", "y"}})
	if err != nil || len(result.Values["x"]) < 15 || len(result.Values["y"]) < 15 {
		t.Errorf("%+v, %v", result, err)
	}
	if reason := result.inference(); !strings.Contains(reason, "name them with --values") {
		t.Errorf("intervals over draws are said to hold: %q", reason)
	}
}
