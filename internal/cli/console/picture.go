package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dither/internal/plot"
)

// Picture is what a verb draws beside its answer. It is drawn from released numbers alone, so it costs nothing.
type Picture struct {
	File  string // --plot
	Chart bool   // --chart
}

// PlotFormat is the format that a file's name asks for.
func PlotFormat(file string) (plot.Format, bool) {
	f := plot.Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(file), ".")))
	return f, slices.Contains(plot.Formats, f)
}

// Check finds what is wrong with the flags before anything is paid for.
func (p *Picture) Check(s *Console) error {
	if p.Chart && s.Format != "table" {
		return Usage("--chart goes with --format table")
	}
	if p.File == "" {
		return nil
	}
	if _, ok := PlotFormat(p.File); !ok {
		return Usage("--plot writes FILE.svg or FILE.png, not %q", p.File)
	}
	folder, err := os.Stat(filepath.Dir(p.File))
	if err != nil {
		return Usage("--plot: %v", err)
	}
	if !folder.IsDir() {
		return Usage("--plot: %s is no folder", filepath.Dir(p.File))
	}
	if there, err := os.Stat(p.File); err == nil && there.IsDir() {
		return Usage("--plot: %s is a folder", p.File)
	}
	return nil
}

// Draw writes a chart, if a picture was asked for.
func (p *Picture) Draw(c plot.Chart) error {
	if p.File == "" {
		return nil
	}
	format, _ := PlotFormat(p.File)
	return ReplaceFile(p.File, func(w io.Writer) error { return plot.Write(w, format, c) })
}

// DrawFile writes a picture with plot.Write, plot.WriteLines or plot.WritePlaces. paid, such as "the answer is", names
// what is recorded even so.
func DrawFile[T any](file string, write func(io.Writer, plot.Format, T) error, picture T, paid string) error {
	format, _ := PlotFormat(file)
	err := ReplaceFile(file, func(w io.Writer) error { return write(w, format, picture) })
	switch {
	case err == nil:
		return nil
	case paid == "":
		return fmt.Errorf("the picture could not be written: %w", err)
	}
	return fmt.Errorf("the picture could not be written: %w (%s recorded: ask again, free)", err, paid)
}

// ReplaceFile writes a file whole, or leaves what was there.
func ReplaceFile(name string, write func(io.Writer) error) (err error) {
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
