package plot

import (
	"fmt"
	"image/color"
	"io"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines is a picture of functions as lines over two numeric axes. The vertical axis is logarithmic unless Linear is
// true.
type Lines struct {
	Title, Caption string
	X, Y           string // names of the axes
	Linear         bool
	// Lines has at most MaxSeries entries. The colour of a line depends on its index. An entry without points
	// reserves the colour of its index.
	Lines  []Line
	Marked []Point // points drawn with dashed lines to both axes
	Reach  []Point // points that the axes include, although they are not drawn
	Below  string  // heading of the texts below the lines; not drawn if no line has any
}

// Line is the graph of one function, as a sequence of points.
type Line struct {
	Name string // in the legend; a line without a name has no entry
	// Points are sorted by X. A point that is not finite, or whose Y has no logarithm on a logarithmic axis,
	// interrupts the line.
	Points []Point
	Edges  [2][]Point // the edges of a band around the line, drawn thin and dashed; nil if there is none
	Below  []Below    // texts in a row below the axis; those without room are left out
}

// Below is a text below the horizontal axis, which begins at X.
type Below struct {
	X    float64
	Text string
}

// Point is a point of a line.
type Point struct{ X, Y float64 }

// WriteLines draws lines and writes the picture. It returns ErrChart if there are more than MaxSeries lines, an
// error for an unknown format, or an error of w.
func WriteLines(w io.Writer, f Format, l Lines) error {
	if len(l.Lines) > MaxSeries {
		return fmt.Errorf("%w: %d lines, but at most %d can be drawn", ErrChart, len(l.Lines), MaxSeries)
	}
	return write(w, f, newLinePage(&l))
}

// linePage is the layout of a [Lines]. The embedded page draws the frame; its chart contains only names.
type linePage struct {
	*page
	lines     *Lines
	low, high Point // limits of the axes, with Y as an exponent of ten if the axis is logarithmic
}

// Sizes of line charts, in points.
const (
	lineHeight = 300
	lineWidth  = 1.6
)

// linearSteps is the approximate number of steps of a linear axis.
const linearSteps = 6

func newLinePage(l *Lines) *linePage {
	var names []string
	var places []int
	for i, line := range l.Lines {
		if line.Name != "" && slices.ContainsFunc(line.Points, func(at Point) bool { _, ok := l.place(at); return ok }) {
			names, places = append(names, line.Name), append(places, i)
		}
	}
	// Nine groups give the chart its full width. No group is drawn.
	p := &linePage{
		page:  newPage(&Chart{Title: l.Title, Caption: l.Caption, Key: l.X, Groups: make([]string, 9), Series: names}),
		lines: l,
	}
	p.swatch = func(i int) color.NRGBA { return palette[i] }
	for _, entries := range p.legend {
		for i := range entries {
			entries[i].series = places[entries[i].series]
		}
	}
	p.height = 2*margin + line(
		titleStyle,
	)*vg.Length(
		len(p.title),
	) + line(
		legendStyle,
	)*vg.Length(
		len(p.legend),
	) + legendGap +
		p.foot() + p.below() + lineHeight + headroom
	p.low, p.high = Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	reach := func(points []Point) {
		for _, at := range points {
			if q, ok := l.place(at); ok {
				p.low = Point{math.Min(p.low.X, q.X), math.Min(p.low.Y, q.Y)}
				p.high = Point{math.Max(p.high.X, q.X), math.Max(p.high.Y, q.Y)}
			}
		}
	}
	reach(l.Marked)
	reach(l.Reach)
	for _, line := range l.Lines {
		reach(line.Points)
		reach(line.Edges[0])
		reach(line.Edges[1])
	}
	if p.low.X > p.high.X {
		p.low, p.high = Point{}, Point{1, 1}
	}
	if p.low.X == p.high.X {
		p.low.X, p.high.X = roomy(p.low.X, p.high.X, true)
	}
	step := 1.0
	if l.Linear {
		if p.low.Y == p.high.Y {
			p.low.Y, p.high.Y = roomy(p.low.Y, p.high.Y, true)
		}
		step = roundStep((p.high.Y - p.low.Y) / linearSteps)
	}
	p.low.Y, p.high.Y = math.Floor(
		p.low.Y/step,
	)*step, math.Max(
		math.Ceil(p.high.Y/step)*step,
		(math.Floor(p.low.Y/step)+1)*step,
	)
	return p
}

// place returns the position of a point on the axes. On a logarithmic axis, its Y is the exponent of ten. ok is
// false for a point outside the axes' domain.
func (l *Lines) place(p Point) (q Point, ok bool) {
	ok = !math.IsNaN(p.X) && math.Abs(p.X) <= far
	if l.Linear {
		return p, ok && math.Abs(p.Y) <= far
	}
	return Point{p.X, math.Log10(p.Y)}, ok && p.Y > 0 && !math.IsInf(p.Y, 1)
}

func (p *linePage) draw(c draw.Canvas) {
	p.frame(c, func(inner draw.Canvas) {
		out := plot.New()
		out.BackgroundColor = nil
		out.X.Min, out.X.Max, out.Y.Min, out.Y.Max = p.low.X, p.high.X, p.low.Y, p.high.Y
		out.X.Padding, out.Y.Padding, out.X.Width, out.Y.Width, out.X.Tick.Length, out.Y.Tick.Length = 4, 4, 0, 0, 0, 0
		out.X.Tick.Label, out.Y.Tick.Label = tickStyle, tickStyle
		out.X.Tick.Label.XAlign, out.X.Tick.Label.YAlign = text.XCenter, text.YTop
		out.Y.Tick.Label.XAlign, out.Y.Tick.Label.YAlign = text.XRight, text.YCenter
		out.X.Tick.Marker, out.Y.Tick.Marker = fixed(ticks(p.low.X, p.high.X, 10)), fixed(p.steps())
		out.Add(p)
		inner = draw.Crop(inner, p.belowNames(), 0, p.below(), -headroom)
		out.Draw(inner)
		c.FillText(
			nameStyle,
			vg.Point{X: c.Min.X + margin, Y: inner.Max.Y + 12},
			cut(nameStyle, clean(p.lines.Y), wide-2*margin),
		)
	})
}

// steps returns the ticks of the vertical axis. On a logarithmic axis, they are about ten integer powers of ten at
// most.
func (p *linePage) steps() []plot.Tick {
	if p.lines.Linear {
		return ticks(p.low.Y, p.high.Y, 2*linearSteps) // the ends are already multiples of the step
	}
	step := math.Ceil((p.high.Y - p.low.Y) / 10)
	var out []plot.Tick
	for y := p.high.Y; y >= p.low.Y; y -= step {
		out = append(out, plot.Tick{Value: y, Label: fmt.Sprintf("1e%d", int(y))})
	}
	return out
}

// rowsBelow returns the places of the lines with texts below the axis.
func (p *linePage) rowsBelow() (out []int) {
	for i, l := range p.lines.Lines {
		if len(l.Below) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// below returns the height of the texts below the axis, with their heading.
func (p *linePage) below() vg.Length {
	if rows := len(p.rowsBelow()); rows > 0 {
		return line(tickStyle)*vg.Length(rows+1) + belowGap
	}
	return 0
}

// belowNames returns the room that the names of the texts below the axis need to the left of the vertical axis.
func (p *linePage) belowNames() (room vg.Length) {
	for _, i := range p.rowsBelow() {
		room = max(room, tickStyle.Width(belowName(p.lines.Lines[i]))-belowRoom)
	}
	return room
}

func belowName(l Line) string { return cut(tickStyle, clean(l.Name), belowWidest) }

// Sizes of the texts below the axis, in points.
const (
	belowGap    = 6   // above the heading
	belowPitch  = 8   // between two texts
	belowWidest = 110 // of a name
	belowRoom   = 10  // what the labels of the vertical axis need at least
)

// drawBelow draws the texts below the axis, each row in the colour of its line.
func (p *linePage) drawBelow(c draw.Canvas, x func(float64) vg.Length) {
	y, places := c.Min.Y-2*line(tickStyle)-belowGap, p.placesBelow(c, x)
	for k, i := range p.rowsBelow() {
		if k == 0 {
			c.FillText(tickStyle, vg.Point{X: c.Min.X, Y: y}, clean(p.lines.Below))
		}
		y -= line(tickStyle)
		sty := tickStyle
		sty.Color, sty.XAlign = palette[i], text.XRight
		c.FillText(sty, vg.Point{X: c.Min.X - 6, Y: y}, belowName(p.lines.Lines[i]))
		sty.Color, sty.XAlign = ink, text.XLeft
		for _, b := range p.lines.Lines[i].Below {
			if slices.Contains(places, b.X) {
				c.FillText(sty, vg.Point{X: x(b.X), Y: y}, clean(b.Text))
			}
		}
	}
}

// placesBelow returns the places at which texts below the axis have room, the same for all rows: from the left, each
// after the widest text of the one before.
func (p *linePage) placesBelow(c draw.Canvas, x func(float64) vg.Length) (out []float64) {
	widest := map[float64]vg.Length{}
	for _, l := range p.lines.Lines {
		for _, b := range l.Below {
			widest[b.X] = max(widest[b.X], tickStyle.Width(clean(b.Text)))
		}
	}
	end := c.Min.X
	for _, place := range slices.Sorted(maps.Keys(widest)) {
		if at := x(place); at >= end && at+widest[place] <= c.Max.X+margin {
			out, end = append(out, place), at+widest[place]+belowPitch
		}
	}
	return out
}

// Plot draws the grid and the lines.
func (p *linePage) Plot(c draw.Canvas, axes *plot.Plot) {
	x, y := axes.Transforms(&c)
	for _, t := range p.steps() {
		c.StrokeLine2(draw.LineStyle{Color: grid, Width: 0.6}, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
	}
	p.drawBelow(c, x)
	for i, l := range p.lines.Lines {
		stroke := func(style draw.LineStyle, points []Point) {
			var run []vg.Point
			for _, at := range points {
				q, ok := p.lines.place(at)
				if !ok {
					c.StrokeLines(style, run)
					run = nil
					continue
				}
				run = append(run, vg.Point{X: x(q.X), Y: y(q.Y)})
			}
			c.StrokeLines(style, run)
		}
		stroke(draw.LineStyle{Color: palette[i], Width: lineWidth}, l.Points)
		for _, edge := range l.Edges {
			stroke(draw.LineStyle{Color: palette[i], Width: lineWidth / 2, Dashes: []vg.Length{3, 2}}, edge)
		}
	}
	for _, at := range p.lines.Marked {
		q, ok := p.lines.place(at)
		if !ok {
			continue
		}
		place, dots := vg.Point{X: x(q.X), Y: y(q.Y)}, draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{2, 2}}
		c.StrokeLine2(dots, c.Min.X, place.Y, place.X, place.Y)
		c.StrokeLine2(dots, place.X, c.Min.Y, place.X, place.Y)
		c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: 3, Shape: draw.CircleGlyph{}}, place)
	}
}
