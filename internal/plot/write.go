package plot

import (
	"bytes"
	"fmt"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// picture is a layout that can be drawn.
type picture interface {
	size() (width, height vg.Length)
	draw(draw.Canvas)
}

func write(w io.Writer, f Format, p picture) error {
	switch f {
	case SVG:
		return writeSVG(w, p)
	case PNG:
		return writePNG(w, p)
	}
	return fmt.Errorf("plot: there is no format %q", f)
}

// writePNG draws a picture as PNG, with two pixels for each point.
func writePNG(w io.Writer, p picture) error {
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(p.size()), vgimg.UseDPI(144))}
	p.draw(draw.New(canvas))
	_, err := canvas.WriteTo(w)
	return err
}

// writeSVG draws a picture as SVG, with text that the viewer renders. The library names only the font with which it
// measured the text. writeSVG adds fonts with the same widths, and a generic sans-serif font. The replaced text
// begins with a quote, which is escaped in all other texts.
func writeSVG(w io.Writer, p picture) error {
	canvas := vgsvg.New(p.size())
	c := draw.New(canvas)
	c.FillPolygon(white, []vg.Point{c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max, {X: c.Max.X, Y: c.Min.Y}})
	p.draw(c)
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	_, err := w.Write(bytes.ReplaceAll(
		out.Bytes(),
		[]byte(
			`style="font-family:Liberation Sans;`,
		),
		[]byte(`style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`),
	))
	return err
}
