package plot

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette holds the colours of the series, which people with colour blindness can distinguish too. Most are those
// of Okabe and Ito, without their yellow, which is pale on white.
var palette = [MaxSeries]color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff},
	{0xe6, 0x9f, 0x00, 0xff},
	{0x00, 0x9e, 0x73, 0xff},
	{0xcc, 0x79, 0xa7, 0xff},
	{0x56, 0xb4, 0xe9, 0xff},
	{0xd5, 0x5e, 0x00, 0xff},
	{0x8c, 0x8c, 0x8c, 0xff},
	{0x5b, 0x3a, 0x8c, 0xff},
}

var (
	white = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	ink   = color.NRGBA{0x22, 0x22, 0x22, 0xff}
	faint = color.NRGBA{0x66, 0x66, 0x66, 0xff}
	grid  = color.NRGBA{0xe4, 0xe4, 0xe4, 0xff}
)

// light mixes a colour with white, so that an interval's line is visible on a bar.
func light(c color.NRGBA) color.NRGBA {
	mix := func(x uint8) uint8 { return uint8((int(x)*3 + 255*2) / 5) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), 0xff}
}

// Sizes of marks, in points.
const (
	share       = 0.78 // fraction of the pitch that a group's marks fill
	widestBar   = 56
	slimmestBar = 1.6 // narrower marks are drawn as one line with a band
	pointRadius = 3
	crossbar    = 3.5 // half of the width of a whisker's end
	arrow       = 3.5
)

// drawn is a panel in the form that gonum's plot draws.
type drawn struct {
	*Panel
	low, high float64
	ticks     []plot.Tick
}

// cutOff reports whether an interval extends beyond the axis. Such an end is drawn with an arrow.
func (d *drawn) cutOff() bool {
	for _, marks := range d.Marks {
		for _, m := range marks {
			if !m.Missing && (m.Low < d.low || m.High > d.high) {
				return true
			}
		}
	}
	return false
}

// hollow reports whether some mark is hollow.
func (d *drawn) hollow() bool {
	return slices.ContainsFunc(d.Marks, func(marks []Mark) bool {
		return slices.ContainsFunc(marks, func(m Mark) bool { return m.Hollow && !m.Missing })
	})
}

// clamp moves a number to the nearest point of the axis.
func (d *drawn) clamp(v float64) float64 { return math.Max(d.low, math.Min(d.high, v)) }

// Plot draws the grid and the marks.
func (d *drawn) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, t := range d.ticks {
		at := y(t.Value)
		c.StrokeLine2(draw.LineStyle{Color: grid, Width: 0.6}, c.Min.X, at, c.Max.X, at)
	}
	pitch := x(1) - x(0)
	width := min(pitch*share/vg.Length(len(d.Marks)), widestBar)
	for s, marks := range d.Marks {
		if width < slimmestBar {
			d.band(c, palette[s], marks, x, y)
			continue
		}
		shift := width * (vg.Length(s) - vg.Length(len(d.Marks)-1)/2)
		for g, m := range marks {
			if !m.Missing {
				d.mark(c, palette[s], m, x(float64(g))+shift, width, y)
			}
		}
	}
	for _, at := range d.lines() {
		if d.low <= at && at <= d.high {
			c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.8}, c.Min.X, y(at), c.Max.X, y(at))
		}
	}
}

// mark draws one number, as a bar or a point, with its interval.
func (d *drawn) mark(c draw.Canvas, hue color.NRGBA, m Mark, at, width vg.Length, y func(float64) vg.Length) {
	value := finite(m.Value)
	line := draw.LineStyle{Color: ink, Width: min(1, width/3)}
	if d.Points {
		line = draw.LineStyle{Color: hue, Width: min(1.4, width/3)}
	} else if !math.IsNaN(value) {
		half := width * 0.46
		outline := []vg.Point{
			{X: at - half, Y: y(0)},
			{X: at - half, Y: y(value)},
			{X: at + half, Y: y(value)},
			{X: at + half, Y: y(0)},
		}
		if m.Hollow {
			c.StrokeLines(draw.LineStyle{Color: hue, Width: 0.8}, append(outline, outline[0]))
		} else {
			c.FillPolygon(light(hue), outline)
		}
	}
	if m.Hollow {
		line.Dashes = []vg.Length{3, 2}
	}
	if !math.IsNaN(m.Low) && !math.IsNaN(m.High) && m.Low != m.High {
		d.whisker(c, line, m, at, min(crossbar, width*0.34), y)
	}
	if d.Points && !math.IsNaN(value) {
		radius, place := min(pointRadius, width*0.6), vg.Point{X: at, Y: y(value)}
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: hue, Radius: radius, Shape: draw.CircleGlyph{}}, place)
		if m.Hollow {
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: white, Radius: radius * 0.6, Shape: draw.CircleGlyph{}}, place)
		}
	}
}

// whisker draws an interval. An end that is infinite or beyond the axis is an arrow at the edge.
func (d *drawn) whisker(c draw.Canvas, line draw.LineStyle, m Mark, at, half vg.Length, y func(float64) vg.Length) {
	bottom, top := y(d.clamp(m.Low)), y(d.clamp(m.High))
	c.StrokeLine2(line, at, bottom, at, top)
	line.Dashes = nil // for the ends
	end := func(open bool, to, inward vg.Length) {
		if open {
			c.StrokeLines(
				line,
				[]vg.Point{{X: at - half, Y: to + inward*arrow}, {X: at, Y: to}, {X: at + half, Y: to + inward*arrow}},
			)
			return
		}
		c.StrokeLine2(line, at-half, to, at+half, to)
	}
	end(m.Low < d.low, bottom, 1)
	end(m.High > d.high, top, -1)
}

// band draws marks that are too close to distinguish: their values as a stepped line, and their intervals as an
// area behind it.
func (d *drawn) band(c draw.Canvas, hue color.NRGBA, marks []Mark, x, y func(float64) vg.Length) {
	within := func(v float64) vg.Length { return y(d.clamp(v)) }
	steps := func(from, to int, of func(Mark) float64) []vg.Point {
		var out []vg.Point
		for g := from; g < to; g++ {
			at := within(of(marks[g]))
			out = append(out, vg.Point{X: x(float64(g) - 0.5), Y: at}, vg.Point{X: x(float64(g) + 0.5), Y: at})
		}
		return out
	}
	shade := hue
	shade.A = 0x50
	runs(marks, func(m Mark) bool { return !m.Missing && m.Low <= m.High }, func(from, to int) {
		area := steps(from, to, func(m Mark) float64 { return m.High })
		below := steps(from, to, func(m Mark) float64 { return m.Low })
		for i := len(below) - 1; i >= 0; i-- {
			area = append(area, below[i])
		}
		c.FillPolygon(shade, area)
	})
	runs(marks, func(m Mark) bool { return !m.Missing && !math.IsNaN(m.Value) }, func(from, to int) {
		c.StrokeLines(draw.LineStyle{Color: hue, Width: 0.8}, steps(from, to, func(m Mark) float64 { return m.Value }))
	})
}

// runs calls the function do for each maximal run of marks for which the function `has` returns true.
func runs(marks []Mark, has func(Mark) bool, do func(from, to int)) {
	from := -1
	for i := 0; i <= len(marks); i++ {
		switch in := i < len(marks) && has(marks[i]); {
		case in && from < 0:
			from = i
		case !in && from >= 0:
			do(from, i)
			from = -1
		}
	}
}
