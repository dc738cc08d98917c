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

// simulated is a curator with its name in tables.
type simulated struct {
	attack.Curator
	name string
}

// promise returns a curator's promise. ok is false for a curator without one.
func (c simulated) promise() (p account.Approximate, ok bool) {
	e, ok := c.Epsilon()
	return account.Approximate{Epsilon: e}, ok
}

// mostBounds is the largest number of bounds of noise. It leaves room in a picture for the exact curator, the
// private one, and the bound on attacks.
const mostBounds = plot.MaxSeries - 3

// curators returns the simulated curators. The first answers exactly. The next have noise with the given bounds, or
// those of --noise. The last one, "ours", is differentially private.
func (o *attackOptions) curators(bounds ...float64) ([]simulated, error) {
	if o.noise != "" {
		bounds = nil
		for text := range strings.SplitSeq(o.noise, ",") {
			b, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				return nil, console.Usage("--noise must be a list of bounds, such as 2,4,8, not %q", o.noise)
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
			return nil, console.Usage("--noise: each bound must be above 0 and at most 1e9, not %g", b)
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

// described is a curator in JSON. AtMost is the bound on any attack that follows from its promise.
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

// attackReport is the result of an attack, as text, as a table, as JSON and as a picture.
type attackReport struct {
	intro, words string
	header       []string
	right        []bool
	rows         [][]string
	value        map[string]any // the report as JSON
	picture      func() (plot.Lines, error)
}

// compare measures each curator. It adds a row for each, with the bound on attacks in the last column, and adds the
// results to the value.
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

// drawn returns the lines of a picture: one for each curator, and a horizontal line for the bound on attacks. The
// exact curator is last, so that its line is above the others.
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

// oursAtMost is the name of the bound in a picture.
const oursAtMost = "ours, at most"

// MarshalJSON writes the report's value.
func (r attackReport) MarshalJSON() ([]byte, error) { return json.Marshal(r.value) }

// showAttack prints a report, and draws its picture if one is requested.
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

// share writes a fraction in percent, with one decimal place. It writes 0 % and 100 % only for exactly 0 and 1.
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

// mostShare writes an upper bound on a fraction, rounded up. It never writes 100 %.
func mostShare(x float64) string {
	if x = math.Ceil(x*1000*(1+1e-15)) / 1000; x >= 1 {
		return almostAll
	}
	return share(x)
}

// chance writes a probability that is known to be neither 0 nor 1, even if its float is.
func chance(x float64) string {
	return share(math.Min(math.Max(x, math.SmallestNonzeroFloat64), 1-0x1p-53))
}

// spread writes the standard deviation of one run, or "" if there was only one run.
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
