package laboratory

import (
	"fmt"
	"math"
	"math/big"

	"dither/audit/channel"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
)

// The displayed part of a curve.
const (
	channelSteps  = 12 // of bars
	channelPoints = 60 // of a picture
	openEnd       = 5  // the ε up to which it is shown where there is none

	channelMostEnd = 10_000 // of which e to the power is computed with
	fewestPoints   = 6
	curveEntries   = 1 << 28 // of pairs of rows, that all points of a curve may look at
)

// points is how many points of a curve can be computed in a few seconds: fewer for a large matrix.
func (r judged) points(most int) int {
	pairs := len(r.m.Inputs()) * (len(r.m.Inputs()) - 1)
	if r.adjacency.Listed() {
		pairs = 2 * r.adjacency.Len()
	}
	return min(most, max(curveEntries/(pairs*len(r.m.Outputs())+1), fewestPoints))
}

// channelCurve is δ from ε = 0 to where it is 0, or to openEnd: at so many steps, or with steps 0 at those of a round
// length, and at the end.
func (r judged) channelCurve(steps int) (at []plot.Point, err error) {
	end := float64(openEnd)
	if r.loss.Private() {
		end = min(max(r.loss.Upper, 1e-3), channelMostEnd)
	}
	step := roundStep(end / float64(r.points(channelSteps)))
	if steps > 0 {
		step = end / float64(r.points(steps))
	}
	for x := 0.; ; x += step {
		if x > end*(1-1e-9) {
			x = end
		}
		e, err := channel.ExponentOf(new(big.Rat).SetFloat64(x))
		if err != nil {
			return nil, err
		}
		excess, err := r.m.Delta(r.adjacency, e)
		if err != nil {
			return nil, err
		}
		at = append(at, plot.Point{X: x, Y: excess.Upper})
		if x == end {
			return at, nil
		}
	}
}

// printChannelCurve draws δ(ε) as bars, on a plain scale.
func printChannelCurve(s *console.Console, at []plot.Point) {
	most := 0.
	for _, p := range at {
		most = max(most, p.Y)
	}
	g := render.Grid{Right: []bool{true, true}}
	g.Add(" ε", "δ", "")
	columns := max(console.ChartWidth(s.Stdout)-30, 20)
	for i, p := range at {
		x := compact6(p.X)
		if i == len(at)-1 { // an ε that holds: no smaller one is written
			x = render.Above(p.X)
		}
		share := 0.
		if most > 0 {
			share = p.Y / most
		}
		g.Add(" "+x, render.DigitsAbove(p.Y, 4), logBar(share, columns))
	}
	s.Print("\n%s", g.Text("  "))
}

// drawChannelCurve writes δ(ε) as a picture.
func drawChannelCurve(r judged, at []plot.Point, file string) error {
	for i, p := range at {
		if p.Y <= 0 {
			at[i].Y = math.NaN()
		}
	}
	l := plot.Lines{
		Title: "δ(ε) of this mechanism", X: "ε", Y: "δ", Lines: []plot.Line{{Name: "the smallest δ", Points: at}},
		Caption: fmt.Sprintf("Exact, from the probabilities of %d outputs under %d inputs.",
			len(r.m.Outputs()), len(r.m.Inputs())),
	}
	if r.loss.Private() {
		l.Caption += fmt.Sprintf(" From ε = %s on δ is 0.", render.Above(r.loss.Upper))
	} else {
		l.Caption += fmt.Sprintf(" δ stays at %s, however large ε is.", render.Above(r.limit.Upper))
	}
	return console.DrawFile(file, plot.WriteLines, l, "")
}
