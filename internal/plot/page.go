package plot

import (
	"image/color"
	"math"

	"golang.org/x/image/font"
	"gonum.org/v1/plot"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of a page, in points.
const (
	wide      = 720
	narrow    = 480 // width of a page with at most three marks in a panel
	margin    = 18
	headroom  = 34 // space above each panel for its name
	leading   = 1.35
	legendGap = 6
	axisWidth = 48 // estimated width of the labels of values
	turn      = math.Pi / 4
)

// page is the layout of a chart.
type page struct {
	chart         *Chart
	width, height vg.Length
	title         []string
	caption       []string
	legend        [][]entry // entries of each line of the legend
	panels        []*drawn
	labels        fixed
	turned        bool
	swatch        func(series int) color.NRGBA // colour of a series in the legend
	// indent of the panels, for rotated labels that extend to the left of the axis
	indent vg.Length
}

// captionLines is the largest number of lines of a caption.
const captionLines = 8

// entry is a series in the legend, with its position in the line.
type entry struct {
	series int
	name   string
	at     vg.Length
}

// style returns the style of a sans-serif text with the given size in points.
func style(size vg.Length, bold bool) draw.TextStyle {
	f := plotfont.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = font.WeightBold
	}
	return draw.TextStyle{
		Color:   ink,
		Font:    f,
		Handler: plot.DefaultTextHandler,
		XAlign:  text.XLeft,
		YAlign:  text.YBottom,
	}
}

var (
	titleStyle   = style(12, true)
	nameStyle    = style(10, true)
	legendStyle  = style(9.5, false)
	tickStyle    = quiet(style(9, false))
	captionStyle = quiet(style(8.5, false))
)

func quiet(s draw.TextStyle) draw.TextStyle {
	s.Color = faint
	return s
}

func line(s draw.TextStyle) vg.Length { return s.Font.Size * leading }

// newPage lays out a chart.
func newPage(c *Chart) *page {
	p := &page{chart: c, width: wide, swatch: func(i int) color.NRGBA { return light(palette[i]) }}
	if len(c.Groups)*c.series() <= 3 {
		p.width = narrow
	}
	inner := p.width - 2*margin
	// leave room, because the viewer of an SVG may have wider letters
	p.title = wrap(titleStyle, clean(c.Title), inner*0.9, 2)
	pitch := (inner - axisWidth) / vg.Length(max(1, len(c.Groups)))
	p.labels, p.turned = labels(c, tickStyle, pitch)
	for _, t := range p.labels {
		if reach := tickStyle.Width(t.Label)*vg.Length(math.Cos(turn)) - vg.Length(t.Value+0.5)*pitch; p.turned {
			p.indent = max(p.indent, reach-axisWidth/2)
		}
	}
	p.layLegend(inner)
	caption := cleaned(c.Caption, longest*captionLines/2)
	cutOff, hollow := false, false
	for i := range c.Panels {
		d := &drawn{Panel: &c.Panels[i]}
		d.low, d.high = d.span()
		d.ticks = ticks(d.low, d.high, int(p.panelHeight()/30))
		p.panels = append(p.panels, d)
		cutOff, hollow = cutOff || d.cutOff(), hollow || d.hollow()
	}
	if hollow {
		caption += ". Hollow, with a dashed line: the interval is the whole range of possible values."
	}
	if cutOff {
		caption += ". An arrow: the interval goes on."
	}
	p.caption = wrap(captionStyle, caption, inner*0.9, captionLines) // leave room, as for the title
	p.height = 2*margin + line(
		titleStyle,
	)*vg.Length(
		len(p.title),
	) + line(
		legendStyle,
	)*vg.Length(
		len(p.legend),
	) + legendGap +
		p.foot() + vg.Length(
		max(1, len(c.Panels)),
	)*(p.panelHeight()+headroom) + p.labelHeight()
	return p
}

func (p *page) size() (width, height vg.Length) { return p.width, p.height }

// foot returns the height of the text below the panels' labels.
func (p *page) foot() vg.Length {
	h := line(captionStyle)*vg.Length(len(p.caption)) + 8
	if p.chart.Key != "" {
		h += line(nameStyle)
	}
	return h
}

func (p *page) panelHeight() vg.Length {
	switch len(p.chart.Panels) {
	case 0, 1:
		return 270
	case 2:
		return 190
	}
	return 140
}

func (p *page) labelHeight() vg.Length {
	h := line(tickStyle)
	for _, t := range p.labels {
		if p.turned {
			h = max(h, (tickStyle.Width(t.Label)+line(tickStyle))*vg.Length(math.Sin(turn)))
		} else {
			h = max(h, tickStyle.Height(t.Label))
		}
	}
	return h
}

func (p *page) layLegend(width vg.Length) {
	at := vg.Length(0)
	if name := p.legendName(); name != "" && len(p.chart.Series) > 0 {
		at = legendStyle.Width(name) + 10
	}
	indent := at
	for i, s := range p.chart.Series {
		e := entry{series: i, name: cut(legendStyle, clean(s), 150)}
		w := legendStyle.Width(e.name) + 32
		if len(p.legend) == 0 || at+w > width {
			p.legend = append(p.legend, nil)
			at = indent
		}
		e.at = at
		at += w
		p.legend[len(p.legend)-1] = append(p.legend[len(p.legend)-1], e)
	}
}

func (p *page) legendName() string { return cut(legendStyle, clean(p.chart.Legend), 150) }

func (p *page) draw(c draw.Canvas) { p.frame(c, p.drawPanels) }

// frame draws the title, the legend and the caption, and calls the function within with the canvas that remains between
// them.
func (p *page) frame(c draw.Canvas, within func(draw.Canvas)) {
	left, y := c.Min.X+margin, c.Max.Y-margin
	for _, l := range p.title {
		y -= line(titleStyle)
		c.FillText(titleStyle, vg.Point{X: left, Y: y}, l)
	}
	if len(p.legend) > 0 {
		y -= legendGap
	}
	for i, l := range p.legend {
		y -= line(legendStyle)
		if i == 0 {
			c.FillText(quiet(legendStyle), vg.Point{X: left, Y: y}, p.legendName())
		}
		for _, e := range l {
			x := left + e.at
			box := []vg.Point{{X: x, Y: y}, {X: x, Y: y + 8}, {X: x + 12, Y: y + 8}, {X: x + 12, Y: y}}
			c.FillPolygon(p.swatch(e.series), box)
			if p.swatch(e.series) == white {
				c.StrokeLines(draw.LineStyle{Color: grid, Width: 0.6}, append(box, box[0]))
			}
			c.FillText(legendStyle, vg.Point{X: x + 16, Y: y}, e.name)
		}
	}
	bottom := c.Min.Y + margin
	for i := len(p.caption) - 1; i >= 0; i-- {
		c.FillText(captionStyle, vg.Point{X: left, Y: bottom}, p.caption[i])
		bottom += line(captionStyle)
	}
	bottom += 8
	if p.chart.Key != "" {
		sty := nameStyle
		sty.XAlign = text.XCenter
		c.FillText(sty, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: bottom}, cut(sty, clean(p.chart.Key), p.width-2*margin))
		bottom += line(nameStyle)
	}
	within(draw.Crop(c, margin, -margin, bottom-c.Min.Y, y-c.Max.Y))
}

// drawPanels draws the panels above each other with aligned axes.
func (p *page) drawPanels(c draw.Canvas) {
	if len(p.panels) == 0 || len(p.chart.Groups) == 0 {
		sty := quiet(style(14, false))
		sty.XAlign = text.XCenter
		c.FillText(sty, c.Center(), "no rows")
		return
	}
	plots := make([][]*plot.Plot, len(p.panels))
	for i, d := range p.panels {
		plots[i] = []*plot.Plot{p.axes(d, i == len(p.panels)-1)}
	}
	tiles := draw.Tiles{Rows: len(plots), Cols: 1, PadTop: headroom, PadY: headroom}
	for i, row := range plot.Align(plots, tiles, draw.Crop(c, p.indent, 0, 0, 0)) {
		plots[i][0].Draw(row[0])
		data := plots[i][0].DataCanvas(row[0])
		c.FillText(
			nameStyle,
			vg.Point{X: c.Min.X, Y: data.Max.Y + 12},
			cut(nameStyle, clean(p.panels[i].Name), p.width-2*margin),
		)
	}
}

// axes returns one panel with inconspicuous axes. Only the last panel has labels of the groups.
func (p *page) axes(d *drawn, last bool) *plot.Plot {
	out := plot.New()
	out.BackgroundColor = nil
	out.X.Min, out.X.Max = -0.5, float64(len(p.chart.Groups))-0.5
	out.Y.Min, out.Y.Max = d.low, d.high
	out.X.Padding, out.Y.Padding = 4, 2
	out.X.Width, out.Y.Width = 0, 0
	out.X.Tick.Length, out.Y.Tick.Length = 0, 0
	out.X.Tick.Label, out.Y.Tick.Label = tickStyle, tickStyle
	out.X.Tick.Label.XAlign, out.X.Tick.Label.YAlign = text.XCenter, text.YTop
	out.Y.Tick.Label.XAlign, out.Y.Tick.Label.YAlign = text.XRight, text.YCenter
	if p.turned {
		out.X.Tick.Label.Rotation = turn
		out.X.Tick.Label.XAlign, out.X.Tick.Label.YAlign = text.XRight, text.YCenter
	}
	out.X.Tick.Marker, out.Y.Tick.Marker = p.labels, fixed(d.ticks)
	if !last {
		out.X.Tick.Marker = fixed(nil)
	}
	out.Add(d)
	return out
}
