package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"dither/audit/attack"
	"dither/internal/plot"
	"dither/privacy"
)

// simulated is a curator with how the tables name it.
type simulated struct {
	attack.Curator
	name    string
	epsilon privacy.Epsilon // of ours, else 0
}

// mostBounds leaves room in a picture for the exact curator, ours, and a bound.
const mostBounds = plot.MaxSeries - 3

// curators are the simulated ones: exact, with fixed noise of such bounds (or those that --noise says), and ours.
func (o *attackOptions) curators(bounds ...float64) ([]simulated, error) {
	if o.noise != "" {
		bounds = nil
		for text := range strings.SplitSeq(o.noise, ",") {
			b, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				return nil, usage("--noise is a list of bounds, as 2,4,8, not %q", o.noise)
			}
			bounds = append(bounds, b)
		}
		if len(bounds) > mostBounds {
			return nil, usage("--noise takes at most %d bounds", mostBounds)
		}
	}
	out := []simulated{{Curator: attack.Truthful(), name: "exact"}}
	for _, b := range bounds {
		c, err := attack.Bounded(b)
		if err != nil {
			return nil, usage("--noise: each bound is above 0 and at most 1e9, not %g", b)
		}
		out = append(out, simulated{Curator: c, name: "noise within ±" + strconv.FormatFloat(b, 'g', 4, 64)})
	}
	e, err := epsilonFlag(o.epsilon)
	if err != nil {
		return nil, err
	}
	c, err := attack.Ours(e)
	return append(out, simulated{Curator: c, name: "ours, ε = " + given(e.Rat()) + " in all", epsilon: e}), err
}

// described is a curator in JSON.
type described struct {
	Curator string   `json:"curator"`
	Noise   *float64 `json:"noise"`
	Epsilon *float64 `json:"epsilon"`
}

func (c simulated) described() described {
	d := described{Curator: "exact"}
	if bound, ok := c.Noise(); ok {
		d.Curator, d.Noise = "bounded", &bound
	}
	if !c.epsilon.IsZero() {
		f, _ := c.epsilon.Rat().Float64()
		d.Curator, d.Epsilon = "ours", &f
	}
	return d
}

// attackReport is what an attack shows.
type attackReport struct {
	intro, words string
	header       []string
	right        []bool
	rows         [][]string
	value        any // as JSON
	picture      func() (plot.Lines, error)
}

// MarshalJSON writes the value.
func (r attackReport) MarshalJSON() ([]byte, error) { return json.Marshal(r.value) }

// showAttack prints a report, and draws its picture.
func (s *session) showAttack(o *attackOptions, r attackReport) error {
	switch s.format {
	case "json":
		if err := s.json(r); err != nil {
			return err
		}
	case "markdown":
		s.print("%s\n\n%s\n%s\n", markdownParagraphs(printableLines(r.intro)), markdownTable(r.header, r.right, r.rows), markdownParagraphs(printableLines(r.words)))
	default:
		g := grid{right: r.right}
		g.add(r.header...)
		for _, row := range r.rows {
			g.add(row...)
		}
		s.print("%s\n\n%s\n%s\n", printableLines(r.intro), g.text("  "), printableLines(r.words))
	}
	if o.plot == "" {
		return nil
	}
	lines, err := r.picture()
	if err != nil {
		return err
	}
	format, _ := plotFormat(o.plot)
	if err := replaceFile(o.plot, func(w io.Writer) error { return plot.WriteLines(w, format, lines) }); err != nil {
		return fmt.Errorf("the picture could not be written: %w", err)
	}
	return nil
}

// share writes a share in per cent, with one decimal.
func share(x float64) string {
	if x == 0 || x == 1 {
		return strconv.FormatFloat(100*x, 'f', 0, 64) + " %"
	}
	return strconv.FormatFloat(100*x, 'f', 1, 64) + " %"
}

// mostShare writes a bound on a share, rounded up.
func mostShare(x float64) string { return share(math.Min(1, math.Ceil(x*1000*(1+1e-15))/1000)) }

func persons(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}
