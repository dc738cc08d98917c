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

// writePNG draws two pixels a point.
func writePNG(w io.Writer, p *page) error {
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(144))}
	p.draw(draw.New(canvas))
	_, err := canvas.WriteTo(w)
	return err
}

// writeSVG leaves the letters to the viewer. The library names only the face that it measured with; what is added are faces
// of the same widths, and any without serifs. (The quote before the style cannot occur in a text, where it is escaped.)
func writeSVG(w io.Writer, p *page) error {
	canvas := vgsvg.New(p.width, p.height)
	c := draw.New(canvas)
	c.FillPolygon(white, []vg.Point{c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max, {X: c.Max.X, Y: c.Min.Y}})
	p.draw(c)
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	_, err := w.Write(bytes.ReplaceAll(out.Bytes(),
		[]byte(`style="font-family:Liberation Sans;`), []byte(`style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`)))
	return err
}
