package cli

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"dither/account"
	"dither/internal/plot"
	"dither/privacy"
)

// The part of a curve that is shown: from ε = 0 to where δ is below curveEnd.
const (
	curveEnd    = 12 // powers of ten
	curvePoints = 13
)

// curvePoint is a job's δ at one ε, which is the number that its text says.
type curvePoint struct {
	text   string
	x      float64
	least  account.Figure
	report account.Report // where every accountant was asked
}

// curveOf is a job's δ at evenly spaced ε, from 0 to where it is negligible or nothing is left to tell; by every accountant, which takes
// longer, or by the least alone.
func curveOf(j *account.Job, every bool) ([]curvePoint, error) {
	end := 0.0
	for _, power := range []int64{curveEnd, 9, 6, 3, 1} {
		d, err := privacy.DeltaOf(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(power), nil)))
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
	if end <= 0 {
		end = 1
	}
	var points []curvePoint
	for i := range curvePoints {
		p := curvePoint{text: strconv.FormatFloat(end*float64(i)/(curvePoints-1), 'g', 4, 64)}
		at, _ := new(big.Rat).SetString(p.text) // a finite float's text
		e, err := privacy.EpsilonOf(at)
		if err != nil {
			return nil, err
		}
		p.x, _ = at.Float64()
		if every {
			p.report, err = j.Delta(e)
			p.least, _ = p.report.Least()
		} else {
			p.least, _, err = j.LeastDelta(e)
		}
		if err != nil {
			return nil, fmt.Errorf("%s", plainly(err))
		}
		points = append(points, p)
	}
	return points, nil
}

// curveTable is δ(ε), by the least of the accountants, with bars on a logarithmic scale as long as so many columns.
func curveTable(points []curvePoint, columns int) *grid {
	g := &grid{right: []bool{true, true}}
	g.add(" ε", "δ at most", fmt.Sprintf("each bar from 1e-%d to δ, by powers of ten", curveEnd))
	for _, p := range points {
		if !p.least.Told() {
			g.add(" "+p.text, "–")
			continue
		}
		share := 1 + math.Log10(max(p.least.Value, 1e-300))/curveEnd
		g.add(" "+p.text, above(p.least.Value), logBar(share, columns))
	}
	return g
}

// logBar is a share of so many columns, in eighths.
func logBar(share float64, columns int) string {
	eighths := int(math.Round(max(0, min(share, 1)) * float64(8*columns)))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string('█' + rune(8-rest)) // ▉ … ▏ follow █
	}
	return bar
}

// drawCurve writes δ(ε) by each accountant as a picture.
func drawCurve(points []curvePoint, file string) error {
	l := plot.Lines{
		Title: "δ(ε) by each accountant", X: "ε", Y: "δ",
		Caption: "Certified upper bounds for a job that is fixed in advance. None of them rules a budget.",
	}
	lines := map[string][]plot.Point{}
	for _, at := range points {
		for _, c := range accountants(at.report) {
			y := math.NaN()
			if c.figure.Told() {
				y = c.figure.Value
			}
			if y < math.Pow(10, -curveEnd-3) {
				y = math.NaN()
			}
			lines[c.name] = append(lines[c.name], plot.Point{X: at.x, Y: y})
		}
	}
	for _, c := range accountants(account.Report{}) {
		for _, p := range lines[c.name] {
			if !math.IsNaN(p.Y) {
				l.Lines = append(l.Lines, plot.Line{Name: c.name, Points: lines[c.name]})
				break
			}
		}
	}
	format, _ := plotFormat(file)
	if err := replaceFile(file, func(w io.Writer) error { return plot.WriteLines(w, format, l) }); err != nil {
		return fmt.Errorf("the picture could not be written: %w", err)
	}
	return nil
}
