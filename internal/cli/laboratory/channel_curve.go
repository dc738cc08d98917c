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

// Limits of the displayed curve of δ against ε.
const (
	channelSteps  = 12 // number of bars
	channelPoints = 60 // number of points of a picture
	openEnd       = 5  // last ε of a curve whose mechanism has no finite ε

	channelMostEnd = 10_000 // largest ε whose exponential is computed
	fewestPoints   = 6
	curveEntries   = 1 << 28 // largest number of pairs of matrix entries that all points together may compare
)

// points returns the number of points of a curve that can be computed in a few seconds, but never more than the
// parameter most. A large matrix permits fewer.
func (r judged) points(most int) int {
	pairs := len(r.m.Inputs()) * (len(r.m.Inputs()) - 1)
	if r.adjacency.Listed() {
		pairs = 2 * r.adjacency.Len()
	}
	return min(most, max(curveEntries/(pairs*len(r.m.Outputs())+1), fewestPoints))
}

// channelCurve returns δ from ε = 0 to the ε at which it is 0, or to openEnd. It has the given number of evenly
// spaced points. If steps is 0, the points have a round distance.
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

// printChannelCurve draws δ(ε) as bars on a linear scale.
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
		if i == len(at)-1 { // round up the last ε, so that the promise holds at the printed number
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

// drawChannelCurve writes a picture of δ(ε).
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
		l.Caption += fmt.Sprintf(" From ε = %s on, δ is 0.", render.Above(r.loss.Upper))
	} else {
		l.Caption += fmt.Sprintf(" δ stays at %s, however large ε is.", render.Above(r.limit.Upper))
	}
	return console.DrawFile(file, plot.WriteLines, l, "")
}
