// Command tpch makes up a star schema like TPC-H's, with the customer as the unit. It asks TPC-H's questions 1, 3,
// 5, 6, 10, 12, 14 and 18 at ε = 1 each. It prints the error of each answer, and the reason for each refusal.
//
//	go run ./examples/tpch --scale 0.1
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dither/curator"
)

//go:embed policy.yaml
var policyText []byte

// large is the quantity of an order above which the order counts as large.
const large = 250

func main() {
	log.SetFlags(0)
	scale := flag.Float64("scale", 0.01, "the scale factor: 1 is 150,000 customers and 6 million lines")
	seed := flag.Uint64("seed", 1, "the seed of the made-up data")
	flag.Parse()
	if err := run(star{*scale, *seed}); err != nil {
		log.Fatal(err)
	}
}

func run(s star) (err error) {
	home, err := os.MkdirTemp("", "dither-tpch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	truths := make([]map[string][]float64, len(questions))
	for q := range truths {
		truths[q] = map[string][]float64{}
	}
	lines, orders, pieces, order := 0, 0, 0, 0
	largeOrders := 0.
	err = s.write(home, func(i item) {
		lines++
		if i.order != order {
			if pieces > large {
				largeOrders++
			}
			order, pieces = i.order, 0
			orders++
		}
		pieces += i.quantity
		for q := range questions {
			if questions[q].truth == nil {
				continue
			}
			questions[q].truth(s, i, func(group string, column int, x float64) {
				t := truths[q][group]
				for len(t) <= column {
					t = append(t, 0)
				}
				t[column] += x
				truths[q][group] = t
			})
		}
	})
	if err != nil {
		return err
	}
	if pieces > large {
		largeOrders++
	}
	truths[len(questions)-1][""] = []float64{largeOrders}
	if err := os.WriteFile(filepath.Join(home, "policy.yaml"), policyText, 0o600); err != nil {
		return err
	}
	if err := curator.Init(home); err != nil {
		return err
	}
	c, err := curator.Open(home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	began := time.Now()
	tables, err := c.Tables()
	if err != nil {
		return err
	}
	for _, t := range tables {
		if _, err := c.Seal(context.Background(), t.Name, curator.SealOptions{Shared: true}); err != nil {
			return err
		}
	}
	fmt.Printf(
		"%d customers, %d orders, %d lines; sealed in %.1f s.\n\n",
		s.customers(),
		orders,
		lines,
		time.Since(began).Seconds(),
	)
	fmt.Println("| question | cells | median error | worst | seconds |\n| --- | --: | --: | --: | --: |")
	var refused []string
	for i, q := range questions {
		if q.asked != "" {
			_, err := c.Explain(context.Background(), curator.Question{SQL: q.asked})
			if err == nil {
				err = errors.New("defect: the question was not refused")
			}
			refused = append(refused, fmt.Sprintf("%s, in its original form: %v", strings.Split(q.name, ",")[0], err))
		}
		began := time.Now()
		r, err := c.Answer(context.Background(), curator.Question{SQL: q.sql, Epsilon: "1"})
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		seconds := time.Since(began).Seconds()
		off := errorsOf(r, truths[i], q.ratio)
		fmt.Printf(
			"| %s | %d | %s | %s | %.2f |\n",
			q.name,
			len(off),
			percent(off[len(off)/2]),
			percent(off[len(off)-1]),
			seconds,
		)
	}
	fmt.Println("\nErrors are for each cell, relative to the exact value without bounds. Refused:")
	for _, text := range refused {
		fmt.Println("\n- " + text)
	}
	return nil
}

// errorsOf returns the relative errors of the cells whose true value is not 0, in ascending order.
func errorsOf(r *curator.Release, truth map[string][]float64, ratio bool) []float64 {
	var out []float64
	for _, row := range r.Rows {
		var group []string
		var values []float64
		for i, c := range r.Columns {
			switch {
			case c.Kind == curator.Key:
				group = append(group, fmt.Sprint(row[i].Key))
			case row[i].Estimate.Value == nil:
				values = append(values, math.NaN())
			default:
				values = append(values, row[i].Estimate.Value.Real)
			}
		}
		t := truth[strings.Join(group, " ")]
		if ratio && len(t) == 2 {
			t = []float64{100 * t[0] / t[1]}
		}
		for i, x := range values {
			if i < len(t) && t[i] != 0 {
				out = append(out, math.Abs(x-t[i])/math.Abs(t[i]))
			}
		}
	}
	slices.Sort(out)
	if len(out) == 0 {
		out = []float64{math.NaN()}
	}
	return out
}

func percent(x float64) string { return fmt.Sprintf("%.2g %%", 100*x) }
