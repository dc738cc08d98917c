package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/plot"
)

// pictures are what query shows of an answer besides itself. They are drawn from the released numbers alone, so they cost
// nothing.
type pictures struct {
	file  string // --plot
	chart bool   // --chart
}

func (s *session) pictureFlags() *pictures {
	p := &pictures{}
	s.flag(&p.file, "plot", "FILE", "draw the answer as FILE.svg or FILE.png")
	s.flag(&p.chart, "chart", "", "draw it in the terminal")
	return p
}

// plotFormat is the format that a file's name asks for.
func plotFormat(file string) (plot.Format, bool) {
	f := plot.Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(file), ".")))
	return f, slices.Contains(plot.Formats, f)
}

// check finds what is wrong with the flags before anything is paid for.
func (p *pictures) check(s *session) error {
	if p.chart && s.format != "table" {
		return usage("--chart goes with --format table")
	}
	if p.file == "" {
		return nil
	}
	if _, ok := plotFormat(p.file); !ok {
		return usage("--plot writes FILE.svg or FILE.png, not %q", p.file)
	}
	folder, err := os.Stat(filepath.Dir(p.file))
	if err != nil {
		return usage("--plot: %v", err)
	}
	if !folder.IsDir() {
		return usage("--plot: %s is no folder", filepath.Dir(p.file))
	}
	if there, err := os.Stat(p.file); err == nil && there.IsDir() {
		return usage("--plot: %s is a folder", p.file)
	}
	return nil
}

// show prints the chart, and writes the picture.
func (p *pictures) show(s *session, r *curator.Release) error {
	if p.chart {
		if err := s.printChart(r); err != nil {
			return err
		}
	}
	if p.file == "" {
		return nil
	}
	format, _ := plotFormat(p.file)
	c := chartOf(r)
	if err := replaceFile(p.file, func(w io.Writer) error { return plot.Write(w, format, c) }); err != nil {
		return fmt.Errorf("the picture could not be written: %w (the answer is recorded: ask again, free)", err)
	}
	return nil
}

// replaceFile writes a file whole, or leaves what was there.
func replaceFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".dither-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error says more
		}
	}()
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
