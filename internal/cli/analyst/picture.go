package analyst

import (
	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
)

func pictureFlags(s *console.Console) *console.Picture {
	p := &console.Picture{}
	s.Flag(&p.File, "plot", "FILE", "draw the answer as FILE.svg or FILE.png")
	s.Flag(&p.Chart, "chart", "", "draw the answer in the terminal")
	return p
}

// showPicture prints the chart and writes the picture, if their flags are given.
func showPicture(p *console.Picture, s *console.Console, r *curator.Release) error {
	if p.Chart {
		if err := printChart(s, r); err != nil {
			return err
		}
	}
	if p.File == "" {
		return nil
	}
	return console.DrawFile(p.File, plot.Write, render.ChartOf(r), "the answer is")
}

// printChart prints an answer as a bar chart, below its table.
func printChart(s *console.Console, r *curator.Release) error {
	text, err := plot.Text(render.ChartOf(r), console.ChartWidth(s.Stdout), console.Colourful(s.Stdout))
	if err != nil {
		return err
	}
	s.Print("\n%s", text)
	return nil
}
