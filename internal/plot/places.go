package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Places is a picture of points in a plane: panels side by side with the same linear axes.
type Places struct {
	Title, Caption string
	X, Y           string // names of the axes
	Low, High      Point  // ranges of the axes; if a range is empty, the data determine both
	Series         []string
	Panels         []PlacePanel // at most MaxPanels
}

// PlacePanel is one panel, with crosses drawn above dots.
type PlacePanel struct {
	Name     string
	Dots     []Point
	Crosses  []Cross
	Diagonal bool // draws the line on which both coordinates are equal
}

// Cross is a point of a series, with the intervals of both coordinates.
type Cross struct {
	Point
	Low, High Point // NaN if there is no interval
	Series    int   // index in Places.Series
}

// WritePlaces draws places and writes the picture. It returns ErrChart if there are more than MaxSeries series or
// MaxPanels panels, or if a cross has no valid series. It also returns an error for an unknown format, or an error
// of w.
func WritePlaces(w io.Writer, f Format, p Places) error {
	if len(p.Series) > MaxSeries || len(p.Panels) > MaxPanels {
		return fmt.Errorf(
			"%w: %d series and %d panels, but at most %d and %d can be drawn",
			ErrChart,
			len(p.Series),
			len(p.Panels),
			MaxSeries,
			MaxPanels,
		)
	}
	for _, panel := range p.Panels {
		for _, c := range panel.Crosses {
			if c.Series < 0 || c.Series >= max(1, len(p.Series)) {
				return fmt.Errorf("%w: a cross refers to series %d, but there are %d",
					ErrChart, c.Series, len(p.Series))
			}
		}
	}
	return write(w, f, newPlacePage(&p))
}

// placePage is the layout of a [Places].
type placePage struct {
	*page
	places    *Places
	low, high Point
	columns   int
}

// Sizes of places, in points.
const (
	placeHeight = 200 // height of a panel, if there are several
	placeAlone  = 400
	dotRadius   = 0.7
	crossArm    = 4.5
)

func newPlacePage(of *Places) *placePage {
	p := &placePage{
		page: newPage(
			&Chart{Title: of.Title, Caption: of.Caption, Key: of.X, Groups: make([]string, 9), Series: of.Series},
		),
		places: of,
	}
	p.swatch = func(i int) color.NRGBA { return palette[i] }
	p.columns = max(1, min(3, len(of.Panels)))
	rows := (max(1, len(of.Panels)) + p.columns - 1) / p.columns
	each := vg.Length(placeHeight)
	if p.columns == 1 {
		each = placeAlone
	}
	p.height = 2*margin + line(
		titleStyle,
	)*vg.Length(
		len(p.title),
	) + line(
		legendStyle,
	)*vg.Length(
		len(p.legend),
	) + legendGap + p.foot() +
		vg.Length(
			rows,
		)*(each+headroom)
	p.low, p.high = of.Low, of.High
	if !(p.low.X < p.high.X) || !(p.low.Y < p.high.Y) || math.IsInf(p.high.X-p.low.X, 0) ||
		math.IsInf(p.high.Y-p.low.Y, 0) {
		p.low, p.high = of.reach()
	}
	return p
}

// reach returns the ranges of the points in all panels.
func (of *Places) reach() (low, high Point) {
	low, high = Point{math.NaN(), math.NaN()}, Point{math.NaN(), math.NaN()}
	add := func(at Point) {
		if !drawable(at) {
			return
		}
		if math.IsNaN(low.X) {
			low, high = at, at
		}
		low, high = Point{
			math.Min(low.X, at.X),
			math.Min(low.Y, at.Y),
		}, Point{
			math.Max(high.X, at.X),
			math.Max(high.Y, at.Y),
		}
	}
	for _, panel := range of.Panels {
		for _, d := range panel.Dots {
			add(d)
		}
		for _, c := range panel.Crosses {
			add(c.Point)
		}
	}
	low.X, high.X = roomy(low.X, high.X, true)
	low.Y, high.Y = roomy(low.Y, high.Y, true)
	return low, high
}

func drawable(at Point) bool { return math.Abs(at.X) <= far && math.Abs(at.Y) <= far }

func (p *placePage) draw(c draw.Canvas) {
	p.frame(c, func(inner draw.Canvas) {
		rows := (max(1, len(p.places.Panels)) + p.columns - 1) / p.columns
		tiles := draw.Tiles{Rows: rows, Cols: p.columns, PadTop: headroom, PadY: headroom, PadX: 14}
		plots := make([][]*plot.Plot, rows)
		for i := range plots {
			plots[i] = make([]*plot.Plot, p.columns)
			for j := range plots[i] {
				if at := i*p.columns + j; at < len(p.places.Panels) {
					plots[i][j] = p.placeAxes(&p.places.Panels[at])
				}
			}
		}
		for i, row := range plot.Align(plots, tiles, inner) {
			for j, canvas := range row {
				if plots[i][j] == nil {
					continue
				}
				plots[i][j].Draw(canvas)
				data, name := plots[i][j].DataCanvas(canvas), p.places.Panels[i*p.columns+j].Name
				if i+j == 0 && p.places.Y != "" {
					name = p.places.Y + "   " + name
				}
				c.FillText(
					nameStyle,
					vg.Point{X: canvas.Min.X, Y: data.Max.Y + 10},
					cut(nameStyle, clean(name), canvas.Max.X-canvas.Min.X),
				)
			}
		}
	})
}

// placeAxes returns one panel with its axes.
func (p *placePage) placeAxes(of *PlacePanel) *plot.Plot {
	out := plot.New()
	out.BackgroundColor = nil
	out.X.Min, out.X.Max, out.Y.Min, out.Y.Max = p.low.X, p.high.X, p.low.Y, p.high.Y
	out.X.Padding, out.Y.Padding, out.X.Width, out.Y.Width, out.X.Tick.Length, out.Y.Tick.Length = 4, 4, 0, 0, 0, 0
	out.X.Tick.Label, out.Y.Tick.Label = tickStyle, tickStyle
	out.X.Tick.Label.XAlign, out.X.Tick.Label.YAlign = text.XCenter, text.YTop
	out.Y.Tick.Label.XAlign, out.Y.Tick.Label.YAlign = text.XRight, text.YCenter
	out.X.Tick.Marker, out.Y.Tick.Marker = fixed(
		ticks(p.low.X, p.high.X, 20/(p.columns+1)),
	), fixed(
		ticks(p.low.Y, p.high.Y, 6),
	)
	out.Add(&placedPanel{of, p})
	return out
}

// placedPanel draws the points of a panel.
type placedPanel struct {
	*PlacePanel
	page *placePage
}

// Plot draws the grid, the dots and the crosses. It leaves out points outside the axes.
func (d *placedPanel) Plot(c draw.Canvas, axes *plot.Plot) {
	x, y := axes.Transforms(&c)
	p := d.page
	rule := draw.LineStyle{Color: grid, Width: 0.6}
	for _, t := range axes.Y.Tick.Marker.Ticks(p.low.Y, p.high.Y) {
		c.StrokeLine2(rule, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
	}
	for _, t := range axes.X.Tick.Marker.Ticks(p.low.X, p.high.X) {
		c.StrokeLine2(rule, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
	}
	shown := func(at Point) bool {
		return drawable(at) && at.X >= p.low.X && at.X <= p.high.X && at.Y >= p.low.Y && at.Y <= p.high.Y
	}
	if low, high := math.Max(p.low.X, p.low.Y), math.Min(p.high.X, p.high.Y); d.Diagonal && low < high {
		c.StrokeLine2(
			draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{4, 3}},
			x(low),
			y(low),
			x(high),
			y(high),
		)
	}
	for _, at := range d.Dots {
		if shown(at) {
			c.DrawGlyph(
				draw.GlyphStyle{Color: palette[6], Radius: dotRadius, Shape: draw.CircleGlyph{}},
				vg.Point{X: x(at.X), Y: y(at.Y)},
			)
		}
	}
	for _, at := range d.Crosses {
		if !shown(at.Point) {
			continue
		}
		hue := palette[at.Series]
		whisker := draw.LineStyle{Color: light(hue), Width: 1}
		within := func(v, low, high float64) float64 { return math.Max(low, math.Min(high, v)) }
		if at.Low.X <= at.High.X {
			c.StrokeLine2(
				whisker,
				x(within(at.Low.X, p.low.X, p.high.X)),
				y(at.Y),
				x(within(at.High.X, p.low.X, p.high.X)),
				y(at.Y),
			)
		}
		if at.Low.Y <= at.High.Y {
			c.StrokeLine2(
				whisker,
				x(at.X),
				y(within(at.Low.Y, p.low.Y, p.high.Y)),
				x(at.X),
				y(within(at.High.Y, p.low.Y, p.high.Y)),
			)
		}
		arm := draw.LineStyle{Color: hue, Width: 1.8}
		here := vg.Point{X: x(at.X), Y: y(at.Y)}
		c.StrokeLine2(arm, here.X-crossArm, here.Y-crossArm, here.X+crossArm, here.Y+crossArm)
		c.StrokeLine2(arm, here.X-crossArm, here.Y+crossArm, here.X+crossArm, here.Y-crossArm)
	}
}
