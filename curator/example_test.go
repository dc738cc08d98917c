package curator_test

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"dither/curator"
	"dither/mechanism/linear"
)

const clinicPolicy = `
version: 1
population: {name: clinic, neighbours: add-remove}
budget: {epsilon: 30}
price: {default: 4, maximum: 10}
tables:
  visits:
    source: {csv: visits.csv}
    unit: row
    columns:
      ward: {type: text, values: [east, north, south, west]}
      age: {type: integer, bounds: [0, 115]}
`

// clinic makes a home with 4,000 made-up visits, most of them to the north ward, of people of 20 to 60 years.
func clinic() (c *curator.Owner, done func()) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	dir, err := os.MkdirTemp("", "clinic")
	must(err)
	must(curator.Init(dir))
	var rows strings.Builder
	rows.WriteString("ward,age\n")
	for i := range 4000 {
		ward := "north"
		if i%4 == 0 {
			ward = []string{"east", "south", "west"}[i/4%3]
		}
		fmt.Fprintf(&rows, "%s,%d\n", ward, 20+i%41)
	}
	must(os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(clinicPolicy), 0o600))
	must(os.WriteFile(filepath.Join(dir, "visits.csv"), []byte(rows.String()), 0o600))
	c, err = curator.Open(dir)
	must(err)
	_, err = c.Seal(context.Background(), "visits", curator.SealOptions{})
	must(err)
	return c, func() {
		must(c.Close())
		must(os.RemoveAll(dir))
	}
}

// What an answer was computed from, later, by the release's name.
func ExampleSession_Measured() {
	c, done := clinic()
	defer done()
	r, err := c.Answer(context.Background(), curator.Question{SQL: "SELECT ward, AVG(age) FROM visits GROUP BY ward"})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := c.Measured(r.ID, "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range m.Vectors {
		fmt.Printf("%s of %d wards, each row from %s to %s\n", v.Name, len(v.Values), v.Bounds[0].RatString(), v.Bounds[1].RatString())
	}
	fmt.Println("remaining", m.Remaining)
	// Output:
	// sum of 4 wards, each row from 0 to 115
	// count of 4 wards, each row from 0 to 1
	// remaining ε = 26
}

// Noisy counts with the exact distribution of their noise.
func ExampleSession_Measure() {
	c, done := clinic()
	defer done()
	m, err := c.Measure(context.Background(), curator.Question{SQL: "SELECT ward, COUNT(*) FROM visits GROUP BY ward"})
	if err != nil {
		fmt.Println(err)
		return
	}
	v := m.Vectors[0]
	fmt.Printf("%d numbers, standard deviation of the noise %.2f, price %s\n", len(v.Values), v.Noise.StdDev(), m.Price)
	fmt.Println("beyond", v.Noise.Quantile(0.01), "at most once in a hundred draws")
	// Output:
	// 4 numbers, standard deviation of the noise 0.19, price ε = 4
	// beyond 1 at most once in a hundred draws
}

// The ward with most visits. Its number is not released.
func ExampleSession_Select() {
	c, done := clinic()
	defer done()
	s, err := c.Select(context.Background(), curator.Selection{
		Request: curator.Request{SQL: "SELECT ward, COUNT(*) FROM visits GROUP BY ward", Epsilon: "1"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v, by %s, for %s\n", s.Best[0].Group[0], s.Mechanism, s.Price)
	fmt.Printf("at %s, no ward has more than %.1f visits more\n", s.Confidence, s.Shortfall)
	// Output:
	// north, by permute and flip, for ε = 1
	// at 0.95, no ward has more than 4.4 visits more
}

// Counts against a threshold: what is below it costs nothing more.
func ExampleSession_Above() {
	c, done := clinic()
	defer done()
	stream, err := c.Above(context.Background(), curator.Threshold{Table: "visits", Threshold: "500", Above: 1, Epsilon: "4"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, where := range []string{"age = 20", "age < 22", "ward = 'north'"} {
		v, err := stream.Ask(context.Background(), "SELECT COUNT(*) FROM visits WHERE "+where)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: above %v, %d left\n", where, v.Above, v.Left)
	}
	// Output:
	// age = 20: above false, 1 left
	// age < 22: above false, 1 left
	// ward = 'north': above true, 0 left
}

// Quartiles, with how far off they may be in rows.
func ExampleSession_Rank() {
	c, done := clinic()
	defer done()
	r, err := c.Rank(context.Background(), curator.Quantiles{
		Request: curator.Request{SQL: "SELECT age FROM visits"}, At: []string{"0.25", "0.5", "0.75"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, at := range r.At {
		fmt.Println(at, r.Values[i])
	}
	fmt.Printf("at %s, within %.0f rows\n", r.Confidence, *r.RankError)
	// Output:
	// 0.25 30
	// 0.5 40
	// 0.75 50
	// at 0.95, within 10 rows
}

// The median with noise that fits how dense the values are about it. Its scale stays secret.
func ExampleSession_Smooth() {
	c, done := clinic()
	defer done()
	m, err := c.Smooth(context.Background(), curator.Request{SQL: "SELECT age FROM visits WHERE ward = 'north'"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Value, "for", m.Price)
	// Output:
	// 40 for ε = 4
}

// The sum of two groups and their difference, measured in place of the groups, and the visits of all groups.
func ExampleSession_MeasureStrategy() {
	c, done := clinic()
	defer done()
	ctx := context.Background()
	r := curator.Request{SQL: "SELECT ward, COUNT(*) FROM visits GROUP BY ward", Epsilon: "8"}
	domain, err := c.Domain(ctx, r)
	if err != nil {
		panic(err)
	}
	queries, err := linear.Dense([][]int64{ // of east, north, south and west
		{0, 1, 1, 0},
		{0, 1, -1, 0},
	})
	if err != nil {
		panic(err)
	}
	wards, err := linear.NewStrategy(linear.Product{queries})
	if err != nil {
		panic(err)
	}
	all, err := linear.NewStrategy(linear.Product{linear.Total(1)}) // of the histogram of one cell
	if err != nil {
		panic(err)
	}
	m, err := c.MeasureStrategy(ctx, curator.Strategy{Request: r, Parts: []curator.StrategyPart{
		{Keys: []int{0}, Queries: wards, Weight: 3},
		{Queries: all},
	}})
	if err != nil {
		panic(err)
	}
	rounded := func(n *big.Int) int64 { return (n.Int64() + 50) / 100 * 100 }
	fmt.Println(domain.Values[0]...)
	for _, part := range m.Parts {
		for _, n := range part.Values {
			fmt.Println("about", rounded(n))
		}
		fmt.Println("one visit changes it by at most", part.Sensitivity.L1, "for", part.Loss)
	}
	// Output:
	// east north south west
	// about 3300
	// about 2700
	// one visit changes it by at most 2 for ε = 6
	// about 4000
	// one visit changes it by at most 1 for ε = 2
}

// Two steps under one price: the key that is furthest from equal counts, and then its counts.
func ExampleSession_Rounds() {
	c, done := clinic()
	defer done()
	ctx := context.Background()
	r, err := c.Rounds(ctx, curator.RoundsRequest{
		Request:    curator.Request{SQL: "SELECT COUNT(*) FROM visits GROUP BY ward, age >= 40", Epsilon: "8"},
		Candidates: [][]int{{0}, {1}},
		Steps:      2,
	})
	if err != nil {
		panic(err)
	}
	options := []curator.Option{
		{Candidate: 0, Score: linear.Distance{Weight: 1, Scale: 1, Table: []int64{1000, 1000, 1000, 1000}}},
		{Candidate: 1, Score: linear.Distance{Weight: 1, Scale: 1, Table: []int64{2000, 2000}}},
	}
	chosen, err := r.Select(ctx, options, curator.StepPrice{Epsilon: "4"})
	if err != nil {
		panic(err)
	}
	parts, err := r.Measure(ctx, []int{chosen.Candidate}, curator.StepPrice{Epsilon: "4"})
	if err != nil {
		panic(err)
	}
	for i, n := range parts[0].Values {
		fmt.Println(r.Values[chosen.Candidate][i], "about", (n.Int64()+50)/100*100)
	}
	fmt.Println(r.Spent(), r.Finish())
	// Output:
	// east about 300
	// north about 3000
	// south about 300
	// west about 300
	// ε = 8 <nil>
}
