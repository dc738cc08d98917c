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

// Heat is a picture of a table of numbers. Each cell is a rectangle whose colour shows its number: the larger, the darker.
// Numbers below 0 have a colour of their own. The number itself is printed in each cell if all of them fit.
type Heat struct {
	Title, Caption string
	X, Y           string      // names of the columns and of the rows
	Of             string      // name of the numbers
	Columns, Rows  []string    // the rows are listed from the bottom to the top
	Values         [][]float64 // by row and column; a number that is not finite leaves its cell empty
}

// WriteHeat draws a heat map and writes the picture. It returns ErrChart if there is not exactly one number for each row
// and column. It also returns an error for an unknown format, or an error of w.
func WriteHeat(w io.Writer, f Format, h Heat) error {
	if len(h.Values) != len(h.Rows) {
		return fmt.Errorf("%w: %d rows of numbers for %d names", ErrChart, len(h.Values), len(h.Rows))
	}
	for _, row := range h.Values {
		if len(row) != len(h.Columns) {
			return fmt.Errorf("%w: a row has %d numbers for %d columns", ErrChart, len(row), len(h.Columns))
		}
	}
	return write(w, f, newHeatPage(&h))
}

// heatPage is the layout of a [Heat]. The embedded page draws the frame; its series are the steps of the colour scale.
type heatPage struct {
	*page
	heat   *Heat
	tall   vg.Length // height of a row
	places int       // decimal places of the printed numbers
	most   float64   // the largest absolute number, whose colour is the darkest
}

// Sizes of heat maps, in points.
const (
	rowHeight    = 26  // of few rows
	tallest      = 520 // of all rows together
	scaleSteps   = MaxSeries - 1
	numberMargin = 3 // least space on both sides of a printed number
)

// darkShare is the share of the largest number above which numbers are printed in white.
const darkShare = 0.7

// numberStyle is the style of the numbers in the cells.
var numberStyle = style(8.5, false)

func newHeatPage(h *Heat) *heatPage {
	p := &heatPage{heat: h}
	low, high := 0.0, 0.0
	for _, row := range h.Values {
		for _, v := range row {
			if !drawable(Point{v, v}) {
				continue
			}
			low, high = math.Min(low, v), math.Max(high, v)
			if v != math.Trunc(v) {
				p.places = 2
			}
		}
	}
	p.most = math.Max(-low, high)
	var levels []plot.Tick
	if p.most > 0 {
		levels = ticks(low, high, scaleSteps)
	}
	var names []string
	for _, l := range levels {
		names = append(names, l.Label)
	}
	p.page = newPage(&Chart{Title: h.Title, Caption: h.Caption, Key: h.X, Groups: h.Columns, Legend: h.Of, Series: names})
	p.width = wide
	p.swatch = func(i int) color.NRGBA { return p.shade(levels[i].Value) }
	var widest vg.Length
	for _, name := range h.Rows {
		widest = max(widest, tickStyle.Width(cut(tickStyle, clean(name), longestLabel)))
	}
	pitch := (wide - 2*margin - widest) / vg.Length(max(1, len(h.Columns)))
	p.labels, p.turned = labels(p.chart, tickStyle, pitch)
	p.tall = min(rowHeight, tallest/vg.Length(max(1, len(h.Rows))))
	p.height = 2*margin + line(titleStyle)*vg.Length(len(p.title)) + line(legendStyle)*vg.Length(len(p.legend)) + legendGap +
		p.foot() + headroom + max(1, vg.Length(len(h.Rows)))*p.tall + p.labelHeight()
	return p
}

// shade returns the colour of a number.
func (p *heatPage) shade(v float64) color.NRGBA {
	hue := palette[0]
	if v < 0 {
		hue = palette[1]
	}
	share := math.Abs(v) / p.most
	mix := func(x uint8) uint8 { return uint8(255 - math.Round((255-float64(x))*share)) }
	return color.NRGBA{mix(hue.R), mix(hue.G), mix(hue.B), 0xff}
}

func (p *heatPage) draw(c draw.Canvas) {
	p.frame(c, func(inner draw.Canvas) {
		if len(p.heat.Rows) == 0 || len(p.heat.Columns) == 0 {
			p.drawPanels(inner)
			return
		}
		out := p.axes(&drawn{Panel: &Panel{Points: true}, low: -0.5, high: float64(len(p.heat.Rows)) - 0.5, ticks: p.rowLabels()}, true)
		out.Y.Padding = 0
		out.Y.Tick.Label.YAlign = text.YCenter
		out.Add(p)
		inner = draw.Crop(inner, 0, 0, 0, -headroom)
		out.Draw(inner)
		c.FillText(nameStyle, vg.Point{X: inner.Min.X, Y: inner.Max.Y + 8}, cut(nameStyle, clean(p.heat.Y), wide-2*margin))
	})
}

// rowLabels returns the labels of the rows. Some are left out if they are too close.
func (p *heatPage) rowLabels() (out fixed) {
	step := nice(float64(line(tickStyle) / p.tall))
	for i := first(p.heat.Rows, step); i < len(p.heat.Rows); i += step {
		out = append(out, plot.Tick{Value: float64(i), Label: cut(tickStyle, clean(p.heat.Rows[i]), longestLabel)})
	}
	return out
}

// Plot draws the cells.
func (p *heatPage) Plot(c draw.Canvas, axes *plot.Plot) {
	x, y := axes.Transforms(&c)
	words, fit := make([][]string, len(p.heat.Rows)), p.tall >= line(numberStyle)
	for i, row := range p.heat.Values {
		for _, v := range row {
			word := number(v, p.places)
			words[i] = append(words[i], word)
			fit = fit && numberStyle.Width(word)+2*numberMargin <= x(1)-x(0)
		}
	}
	for i, row := range p.heat.Values {
		for j, v := range row {
			left, right, bottom, top := x(float64(j)-0.5), x(float64(j)+0.5), y(float64(i)-0.5), y(float64(i)+0.5)
			box := []vg.Point{{X: left, Y: bottom}, {X: left, Y: top}, {X: right, Y: top}, {X: right, Y: bottom}}
			known := drawable(Point{v, v})
			hue := white
			if known && v != 0 {
				hue = p.shade(v)
			}
			c.FillPolygon(hue, box)
			if !known || !fit {
				continue
			}
			sty := numberStyle
			sty.XAlign, sty.YAlign = text.XCenter, text.YCenter
			if v > p.most*darkShare {
				sty.Color = white
			}
			c.FillText(sty, vg.Point{X: (left + right) / 2, Y: (bottom + top) / 2}, words[i][j])
		}
	}
	rule := draw.LineStyle{Color: grid, Width: 0.6}
	for i := range len(p.heat.Rows) + 1 {
		c.StrokeLine2(rule, c.Min.X, y(float64(i)-0.5), c.Max.X, y(float64(i)-0.5))
	}
	for j := range len(p.heat.Columns) + 1 {
		c.StrokeLine2(rule, x(float64(j)-0.5), c.Min.Y, x(float64(j)-0.5), c.Max.Y)
	}
}
