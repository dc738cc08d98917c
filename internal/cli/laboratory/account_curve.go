package laboratory

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"dither/account"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/privacy"
)

// Limits of a displayed curve. It extends from ε = 0 to the ε at which δ falls below 10^−curveEnd, or to the
// requested point.
const (
	curveEnd      = 12   // negated exponent of ten
	curveSteps    = 13   // largest number of steps of a text curve
	curvePoints   = 121  // number of points of a picture
	sampledPoints = 17   // number of points of a picture if each takes long to compute
	farthest      = 1e12 // largest ε for which accountants are asked
)

// curveOf returns a job's δ at evenly spaced ε by every accountant. The curve extends from 0 to the ε at which δ is
// negligible or no longer known, and at least to the requested point. If points is 0, it has a few steps of a round
// length, and only the smallest figure.
func curveOf(a asked, points int) (at []curvePoint, err error) {
	j := a.job
	end := 0.0
	for _, power := range []int64{curveEnd, 9, 6, 3, 1} {
		d, err := privacy.DeltaOf(new(big.Rat).SetFrac(big.NewInt(1),
			new(big.Int).Exp(big.NewInt(10), big.NewInt(power), nil)))
		if err != nil {
			return nil, err
		}
		r, err := j.Epsilon(d)
		if err != nil {
			return nil, err
		}
		if f, _ := r.Least(); f.Told() {
			end = f.Value
			break
		}
	}
	if p, ok := a.place(); ok {
		end = max(end, p.X)
	}
	if end <= 0 {
		end = 1
	}
	end = min(end, farthest)
	step, every := end/float64(points-1), points > 0
	if !every {
		step = roundStep(end / curveSteps)
		points = int(math.Ceil(end/step*(1-1e-9))) + 1
	}
	for i := range points {
		p := curvePoint{x: min(step*float64(i), farthest)}
		e, err := privacy.EpsilonOf(new(big.Rat).SetFloat64(p.x))
		if err != nil {
			return nil, err
		}
		if every {
			p.report, err = j.Delta(e)
			p.least, _ = p.report.Least()
		} else {
			p.least, _, err = j.LeastDelta(e)
		}
		if err != nil {
			return nil, fmt.Errorf("%s", console.AccountWords(err))
		}
		at = append(at, p)
	}
	return at, nil
}

// curvePoint is a job's δ at one ε, which is x.
type curvePoint struct {
	x      float64
	least  account.Figure
	report account.Report // figures of all accountants, if they were requested
}

// roundStep returns the smallest number of the form 1, 2, 2.5 or 5 times a power of ten that is at least x.
func roundStep(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, n := range []float64{1, 2, 2.5, 5} {
		if n*unit >= x {
			return n * unit
		}
	}
	return 10 * unit
}

// place returns the ε and the δ of the answer. ok is false if there is no figure.
func (a asked) place() (p plot.Point, ok bool) {
	least, _ := a.report.Least()
	p.X, _ = a.epsilon.Rat().Float64()
	p.Y, _ = a.delta.Rat().Float64()
	if a.ofDelta {
		p.Y = least.Value
	} else {
		p.X = least.Value
	}
	return p, least.Told()
}

// printCurve draws δ(ε) by the best accountant, as bars on a logarithmic scale.
func printCurve(s *console.Console, a asked) error {
	at, err := curveOf(a, 0)
	if err != nil {
		return err
	}
	g := render.Grid{Right: []bool{true, true}}
	g.Add(" ε", "δ at most", fmt.Sprintf("each bar from 1e-%d to δ, by powers of ten", curveEnd))
	columns := max(console.ChartWidth(s.Stdout)-30, 20)
	bar := func(x, y float64, mark string) {
		share := 1 + math.Log10(max(y, 1e-300))/curveEnd
		g.Add(" "+render.DigitsAbove(x, 4), render.DigitsAbove(y, 3), logBar(share, columns)+mark)
	}
	answer, asked := a.place()
	for _, p := range at {
		if asked && answer.X <= p.x {
			bar(answer.X, answer.Y, " ◂ asked")
			if asked = false; answer.X == p.x {
				continue
			}
		}
		if p.least.Told() {
			bar(p.x, p.least.Value, "")
		} else {
			g.Add(" "+render.DigitsAbove(p.x, 4), "–")
		}
	}
	if asked { // rounding may place the last step just below the requested point
		bar(answer.X, answer.Y, " ◂ asked")
	}
	s.Print("\n%s", g.Text("  "))
	return nil
}

// logBar returns a bar that fills a share of the given number of columns, exact to an eighth.
func logBar(share float64, columns int) string {
	eighths := int(math.Round(max(0, min(share, 1)) * float64(8*columns)))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string('█' + rune(8-rest)) // █ is followed by ▉ … ▏
	}
	return bar
}

// drawCurve writes a picture of δ(ε) by each accountant.
func drawCurve(a asked, file string) error {
	points := curvePoints
	if _, sampled := a.job.Relation(); sampled {
		points = sampledPoints
	}
	at, err := curveOf(a, points)
	if err != nil {
		return err
	}
	l := plot.Lines{
		Title: "δ(ε) by each accountant", X: "ε", Y: "δ",
		Caption: "Certified upper bounds for a job that is fixed in advance. Budgets are charged by another rule.",
	}
	least := math.Pow(10, -curveEnd-3)
	p, told := a.place()
	if told && p.Y > 0 {
		l.Marked = []plot.Point{p}
		l.Caption = fmt.Sprintf("Marked: ε = %s at δ = %s. %s", render.Above(p.X), render.Above(p.Y), l.Caption)
		least = min(least, p.Y)
	}
	lines := map[string][]plot.Point{}
	for _, at := range at {
		for _, c := range accountants(at.report) {
			y := math.NaN()
			if c.figure.Told() {
				y = c.figure.Value
			}
			if y < least {
				y = math.NaN()
			}
			lines[c.name] = append(lines[c.name], plot.Point{X: at.x, Y: y})
		}
	}
	// include accountants without a line, so that each has the same colour in every picture
	for _, c := range accountants(account.Report{}) {
		l.Lines = append(l.Lines, plot.Line{Name: c.name, Points: lines[c.name]})
	}
	return console.DrawFile(file, plot.WriteLines, l, "")
}
