package laboratory

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/account"
	"dither/audit/attack"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
)

// simulated is a curator with its name in the tables.
type simulated struct {
	attack.Curator
	name string
}

// promise is the promise of a curator; ok is false for curators that promise nothing.
func (c simulated) promise() (p account.Approximate, ok bool) {
	e, ok := c.Epsilon()
	return account.Approximate{Epsilon: e}, ok
}

// mostBounds leaves room in a picture for the exact curator, ours, and a bound.
const mostBounds = plot.MaxSeries - 3

// curators are the simulated curators: exact, with fixed noise of the given bounds (or those of --noise), and ours.
func (o *attackOptions) curators(bounds ...float64) ([]simulated, error) {
	if o.noise != "" {
		bounds = nil
		for text := range strings.SplitSeq(o.noise, ",") {
			b, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				return nil, console.Usage("--noise is a list of bounds, as 2,4,8, not %q", o.noise)
			}
			bounds = append(bounds, b)
		}
		if len(bounds) > mostBounds {
			return nil, console.Usage("--noise takes at most %d bounds", mostBounds)
		}
	}
	out := []simulated{{Curator: attack.Truthful(), name: "exact"}}
	for _, b := range bounds {
		c, err := attack.Bounded(b)
		if err != nil {
			return nil, console.Usage("--noise: each bound is above 0 and at most 1e9, not %g", b)
		}
		out = append(out, simulated{Curator: c, name: "noise within ±" + strconv.FormatFloat(b, 'g', 4, 64)})
	}
	e, err := console.EpsilonFlag(o.epsilon)
	if err != nil {
		return nil, err
	}
	c, err := attack.Ours(e)
	return append(out, simulated{Curator: c, name: "ours, ε = " + render.Given(e.Rat()) + " in all"}), err
}

// described is a curator in JSON, with the bound that its promise gives for any attack.
type described struct {
	Curator string   `json:"curator"`
	Noise   *float64 `json:"noise"`
	Epsilon *float64 `json:"epsilon"`
	AtMost  *float64 `json:"at_most"`
}

func (c simulated) described(most func(account.Approximate) float64) described {
	d := described{Curator: "exact"}
	if bound, ok := c.Noise(); ok {
		d.Curator, d.Noise = "bounded", &bound
	}
	if p, ok := c.promise(); ok {
		e, _ := p.Epsilon.Rat().Float64()
		at := most(p)
		d.Curator, d.Epsilon, d.AtMost = "ours", &e, &at
	}
	return d
}

// attackReport is the result of an attack.
type attackReport struct {
	intro, words string
	header       []string
	right        []bool
	rows         [][]string
	value        map[string]any // as JSON
	picture      func() (plot.Lines, error)
}

// compare adds a row for each curator, its bound last, and their results to the value.
func (r *attackReport) compare(curators []simulated, most func(account.Approximate) float64,
	measure func(c simulated, d described) (cells []string, result any, err error),
) error {
	var results []any
	for _, c := range curators {
		d := c.described(most)
		cells, result, err := measure(c, d)
		if err != nil {
			return err
		}
		bound := ""
		if d.AtMost != nil {
			bound = mostShare(*d.AtMost)
		}
		r.rows, results = append(r.rows, append(append([]string{c.name}, cells...), bound)), append(results, result)
	}
	r.value["curators"] = results
	return nil
}

// drawn is the lines of a picture, with what ours leaves at most at each X from one to the other. What nothing hides
// comes last, so that it is seen.
func drawn(
	curators []simulated, most func(account.Approximate) float64, from, to float64, line func(c simulated) []plot.Point,
) []plot.Line {
	var out []plot.Line
	for _, c := range append(curators[1:len(curators):len(curators)], curators[0]) {
		out = append(out, plot.Line{Name: c.name, Points: line(c)})
		if p, ok := c.promise(); ok {
			y := most(p)
			out = append(out, plot.Line{Name: oursAtMost, Points: []plot.Point{{X: from, Y: y}, {X: to, Y: y}}})
		}
	}
	return out
}

// oursAtMost names the bound in a picture.
const oursAtMost = "ours, at most"

// MarshalJSON writes the value.
func (r attackReport) MarshalJSON() ([]byte, error) { return json.Marshal(r.value) }

// showAttack prints a report, and draws its picture.
func showAttack(s *console.Console, o *attackOptions, r attackReport) error {
	switch s.Format {
	case "json":
		if err := s.JSON(r); err != nil {
			return err
		}
	case "markdown":
		s.Print("%s\n\n%s\n%s\n", render.MarkdownParagraphs(render.PrintableLines(r.intro)),
			render.MarkdownTable(r.header, r.right, r.rows), render.MarkdownParagraphs(render.PrintableLines(r.words)))
	default:
		g := render.Grid{Right: r.right}
		g.Add(r.header...)
		for _, row := range r.rows {
			g.Add(row...)
		}
		s.Print("%s\n\n%s\n%s\n", render.PrintableLines(r.intro), g.Text("  "), render.PrintableLines(r.words))
	}
	if o.plot == "" {
		return nil
	}
	lines, err := r.picture()
	if err != nil {
		return err
	}
	return console.DrawFile(o.plot, plot.WriteLines, lines, "")
}

// share writes a share in per cent, with one decimal. A share that is neither 0 nor 1 is never written as 0 or 100 %.
func share(x float64) string {
	text := strconv.FormatFloat(100*x, 'f', 1, 64)
	switch {
	case x == 0 || x == 1:
		return strconv.FormatFloat(100*x, 'f', 0, 64) + " %"
	case text == "100.0":
		return almostAll
	case text == "0.0":
		return "< 0.1 %"
	}
	return text + " %"
}

const almostAll = "> 99.9 %"

// mostShare writes a bound on a share, rounded up. A bound near 1 is not written as 100 %.
func mostShare(x float64) string {
	if x = math.Ceil(x*1000*(1+1e-15)) / 1000; x >= 1 {
		return almostAll
	}
	return share(x)
}

// chance writes a probability that is neither 0 nor 1, even if the nearest float is.
func chance(x float64) string {
	return share(math.Min(math.Max(x, math.SmallestNonzeroFloat64), 1-0x1p-53))
}

// spread writes the standard deviation of one run, which one run does not show.
func spread(r attack.Rate) string {
	if r.Runs < 2 {
		return ""
	}
	return share(r.StdDev)
}

func persons(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}
