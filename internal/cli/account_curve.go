package cli

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"

	"dither/account"
	"dither/internal/plot"
	"dither/privacy"
)

// The part of a curve that is shown: from ε = 0 to where δ is below curveEnd.
const (
	curveEnd    = 12 // powers of ten
	curveLines  = 13
	curvePoints = 17
)

// curveOf is a job's δ at so many ε, evenly spaced, from 0 to a round number where it is negligible or nothing is left to tell.
func curveOf(j *account.Job, points int) (at []float64, reports []account.Report, err error) {
	end := 0.0
	for _, power := range []int64{curveEnd, 9, 6, 3, 1} {
		d, err := privacy.DeltaOf(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(power), nil)))
		if err != nil {
			return nil, nil, err
		}
		r, err := j.Epsilon(d)
		if err != nil {
			return nil, nil, err
		}
		if f, _ := r.Least(); f.Told() {
			end = f.Value
			break
		}
	}
	if end <= 0 {
		end = 1
	}
	for i := range points {
		x := end * float64(i) / float64(points-1)
		e, err := privacy.EpsilonOf(new(big.Rat).SetFloat64(x))
		if err != nil {
			return nil, nil, err
		}
		r, err := j.Delta(e)
		if err != nil {
			return nil, nil, fmt.Errorf("%s", plainly(err))
		}
		at, reports = append(at, x), append(reports, r)
	}
	return at, reports, nil
}

// printCurve draws δ(ε), by the least of the accountants, as bars on a logarithmic scale.
func (s *session) printCurve(j *account.Job) error {
	at, reports, err := curveOf(j, curveLines)
	if err != nil {
		return err
	}
	g := grid{right: []bool{true, true}}
	g.add(" ε", "δ at most", fmt.Sprintf("each bar from 1e-%d to δ, by powers of ten", curveEnd))
	columns := max(chartWidth(s.stdout)-30, 20)
	for i, x := range at {
		f, _ := reports[i].Least()
		if !f.Told() {
			g.add(fmt.Sprintf(" %.4g", x), "–")
			continue
		}
		share := 1 + math.Log10(max(f.Value, 1e-300))/curveEnd
		g.add(fmt.Sprintf(" %.4g", x), fmt.Sprintf("%.3g", f.Value), logBar(share, columns))
	}
	s.print("\n%s", g.text("  "))
	return nil
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
func (s *session) drawCurve(j *account.Job, file string) error {
	at, reports, err := curveOf(j, curvePoints)
	if err != nil {
		return err
	}
	l := plot.Lines{
		Title: "δ(ε) by each accountant", X: "ε", Y: "δ",
		Caption: "Certified upper bounds for a job that is fixed in advance. None of them rules a budget.",
	}
	lines := map[string][]plot.Point{}
	for i, r := range reports {
		for _, c := range accountants(r) {
			y := math.NaN()
			if c.figure.Told() {
				y = c.figure.Value
			}
			if y < math.Pow(10, -curveEnd-3) {
				y = math.NaN()
			}
			lines[c.name] = append(lines[c.name], plot.Point{X: at[i], Y: y})
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
