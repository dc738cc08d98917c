package analyst

import (
	"fmt"
	"math"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/strategy/together"
)

// drawJoint prints and writes the pictures that the flags of the command name.
func drawJoint(s *console.Console, how asking, a *together.Answer) error {
	if how.picture.Chart {
		text, err := plot.Text(jointChart(a, how.explain), console.ChartWidth(s.Stdout), console.Colourful(s.Stdout))
		if err != nil {
			return err
		}
		s.Print("\n%s", text)
	}
	if how.picture.File == "" {
		return nil
	}
	paid := "the answer is"
	if how.explain {
		paid = ""
	}
	return console.DrawFile(how.picture.File, plot.Write, jointChart(a, how.explain), paid)
}

// jointChart returns a picture of the answers with their intervals, or of the expected margins of error.
func jointChart(a *together.Answer, explain bool) plot.Chart {
	c := plot.Chart{
		Title: "Several questions, one measurement", Key: "question",
		Caption: fmt.Sprintf("%s for %s. Intervals at %s confidence cover noise.",
			a.Candidates[0].Name, a.Price, render.Percent(a.Confidence)),
		Panels: []plot.Panel{{Name: "answer", Marks: [][]plot.Mark{nil}}},
	}
	if explain {
		c.Title, c.Panels[0].Name = "Expected margins of error", "margin of error"
	}
	for _, n := range a.Counts {
		name := fmt.Sprintf("%d %s", n.Question+1, n.Name)
		var group []string
		for _, v := range n.Group {
			group = append(group, render.KeyText(v))
		}
		if group != nil {
			name += " " + strings.Join(group, ", ")
		}
		m := plot.Mark{Value: n.Value, Low: n.Low, High: n.High}
		if explain {
			m = plot.Mark{Value: n.HalfWidth, Low: math.NaN(), High: math.NaN()}
		}
		m.Text = render.Fixed(m.Value, render.Decimals(n.HalfWidth))
		c.Groups = append(c.Groups, name)
		c.Panels[0].Marks[0] = append(c.Panels[0].Marks[0], m)
	}
	return c
}
