// Command kmeans shows k-means with and without privacy, as McSherry (2009) does. Both run Lloyd's algorithm for
// six iterations from the same starting centres. It draws the centres of each iteration side by side. The rows are
// made up, so the results without privacy can be shown too.
//
//	go run ./examples/kmeans --plot kmeans.svg
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
	"strings"

	"dither/curator"
	"dither/internal/plot"
	"dither/internal/splitmix"
	"dither/stats/cluster"
)

//go:embed policy.yaml
var policyText []byte

const (
	rows       = 2000
	clusters   = 3
	iterations = 6
)

func main() {
	log.SetFlags(0)
	seed := flag.Uint64("seed", 1, "the seed of the made-up rows and of the first centres")
	epsilon := flag.String("epsilon", "0.5", "the price of all iterations")
	file := flag.String("plot", "", "draw the centres as FILE.svg or FILE.png")
	flag.Parse()
	if err := run(*seed, *epsilon, *file); err != nil {
		log.Fatal(err)
	}
}

func run(seed uint64, epsilon, file string) (err error) {
	home, err := os.MkdirTemp("", "dither-kmeans-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	points := made(seed)
	var text strings.Builder
	text.WriteString("x,y\n")
	for _, p := range points {
		fmt.Fprintf(&text, "%.6f,%.6f\n", p[0], p[1])
	}
	if err := errors.Join(
		curator.Init(home),
		os.WriteFile(filepath.Join(home, "policy.yaml"), policyText, 0o600),
		os.WriteFile(filepath.Join(home, "points.csv"), []byte(text.String()), 0o600),
	); err != nil {
		return err
	}
	c, err := curator.Open(home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	ctx := context.Background()
	if _, err := c.Seal(ctx, "points", curator.SealOptions{}); err != nil {
		return err
	}
	found, err := cluster.KMeans(ctx, c.Session(), cluster.Request{
		Table:      "points",
		Columns:    []string{"x", "y"},
		K:          clusters,
		Method:     cluster.MethodLloyd,
		Iterations: iterations,
		Radius:     "1",
		Seed:       seed,
		Epsilon:    epsilon,
	})
	if err != nil {
		return err
	}
	without := [][][]float64{found.Trace[0]}
	for t := range iterations {
		without = append(without, step(points, without[t]))
	}
	fmt.Printf(
		"%d rows, %d clusters, %s under %s; the mean squared distance to the nearest centre:\n\n t   without "+
			"privacy   with\n",
		rows,
		clusters,
		found.Price,
		"change-one",
	)
	for t := range found.Trace {
		fmt.Printf("%2d   %15.4f   %.4f\n", t, cost(points, without[t]), cost(points, found.Trace[t]))
	}
	var released [][]float64
	for _, k := range found.Clusters {
		released = append(released, []float64{k.Centre[0].Value, k.Centre[1].Value})
	}
	fmt.Printf("\nthe last %d iterations together: %.4f\n", iterations/2, cost(points, released))
	if file == "" {
		return nil
	}
	return drawn(file, points, without, found)
}

// made returns made-up rows around three points, with ‖x‖₁ ≤ 1.
func made(seed uint64) (out [][2]float64) {
	words := splitmix.At(splitmix.Mix(seed))
	uniform := func() float64 { return (float64(words.Word()>>11) + 0.5) / (1 << 53) }
	normal := func() float64 { return math.Sqrt(-2*math.Log(uniform())) * math.Cos(2*math.Pi*uniform()) }
	places := [clusters][2]float64{{-0.4, -0.2}, {0.4, -0.2}, {0, 0.5}}
	for len(out) < rows {
		at := places[len(out)%clusters]
		p := [2]float64{at[0] + 0.1*normal(), at[1] + 0.1*normal()}
		if math.Abs(p[0])+math.Abs(p[1]) <= 1 {
			out = append(out, p)
		}
	}
	return out
}

func nearest(p [2]float64, centres [][]float64) (best int, least float64) {
	least = math.Inf(1)
	for j, c := range centres {
		if d := (p[0]-c[0])*(p[0]-c[0]) + (p[1]-c[1])*(p[1]-c[1]); d < least {
			best, least = j, d
		}
	}
	return best, least
}

// step makes one iteration of Lloyd's algorithm without privacy.
func step(points [][2]float64, centres [][]float64) [][]float64 {
	sums := make([][3]float64, len(centres))
	for _, p := range points {
		j, _ := nearest(p, centres)
		sums[j][0] += p[0]
		sums[j][1] += p[1]
		sums[j][2]++
	}
	out := make([][]float64, len(centres))
	for j, s := range sums {
		out[j] = centres[j]
		if s[2] > 0 {
			out[j] = []float64{s[0] / s[2], s[1] / s[2]}
		}
	}
	return out
}

func cost(points [][2]float64, centres [][]float64) float64 {
	sum := 0.0
	for _, p := range points {
		_, d := nearest(p, centres)
		sum += d
	}
	return sum / float64(len(points))
}

// drawn writes the chart, which has a panel for each iteration with the centres at its start.
func drawn(file string, points [][2]float64, without [][][]float64, found *cluster.Result) (err error) {
	none := plot.Point{X: math.NaN(), Y: math.NaN()}
	picture := plot.Places{
		Title: "Centres over six iterations, with and without privacy",
		Caption: fmt.Sprintf(
			"%d made-up rows with ‖x‖₁ ≤ 1, neighbours change one of them; %d clusters; %s for %d iterations, with "+
				"Laplace noise of scale 2/ε′, ε′ = ε/%d",
			rows,
			clusters,
			found.Price,
			iterations,
			2*iterations,
		),
		X:      "x",
		Y:      "y",
		Low:    plot.Point{X: -1, Y: -1},
		High:   plot.Point{X: 1, Y: 1},
		Series: []string{"without privacy", "with privacy"},
	}
	for t := range iterations {
		panel := plot.PlacePanel{Name: fmt.Sprintf("t = %d", t)}
		for _, p := range points {
			panel.Dots = append(panel.Dots, plot.Point{X: p[0], Y: p[1]})
		}
		for series, centres := range [][][]float64{without[t], found.Trace[t]} {
			for _, c := range centres {
				panel.Crosses = append(
					panel.Crosses,
					plot.Cross{Point: plot.Point{X: c[0], Y: c[1]}, Low: none, High: none, Series: series},
				)
			}
		}
		picture.Panels = append(picture.Panels, panel)
	}
	format := plot.SVG
	if strings.HasSuffix(file, ".png") {
		format = plot.PNG
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(plot.WritePlaces(f, format, picture), f.Close())
}
