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

// Picture holds the flags for drawing an answer. Drawing uses released numbers alone, so it costs nothing.
type Picture struct {
	File  string // value of --plot
	Chart bool   // value of --chart
}

// PlotFormat returns the format that a file's extension selects, and whether the format exists.
func PlotFormat(file string) (plot.Format, bool) {
	f := plot.Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(file), ".")))
	return f, slices.Contains(plot.Formats, f)
}

// Check returns an error for wrong flags, before anything is paid for.
func (p *Picture) Check(s *Console) error {
	if p.Chart && s.Format != "table" {
		return Usage("--chart needs --format table")
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
		return Usage("--plot: %s is not a folder", filepath.Dir(p.File))
	}
	if there, err := os.Stat(p.File); err == nil && there.IsDir() {
		return Usage("--plot: %s is a folder", p.File)
	}
	f, err := os.CreateTemp(filepath.Dir(p.File), temporaryName)
	if err != nil {
		return Usage("--plot: %v", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// temporaryName is the pattern of the name of a file that is still being written.
const temporaryName = ".dither-*"

// Draw writes a chart if --plot is given.
func (p *Picture) Draw(c plot.Chart) error {
	if p.File == "" {
		return nil
	}
	format, _ := PlotFormat(p.File)
	return ReplaceFile(p.File, func(w io.Writer) error { return plot.Write(w, format, c) })
}

// DrawFile writes a picture with plot.Write, plot.WriteLines or plot.WritePlaces. If writing fails and paid is not "",
// the error adds that the result was recorded and can be asked for again, free. paid is the beginning of that sentence,
// such as "the answer is".
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

// ReplaceFile replaces a file completely, or leaves the old file unchanged on an error.
func ReplaceFile(name string, write func(io.Writer) error) error {
	return ReplaceNamed(name, func(temporary string) error {
		f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	})
}

// ReplaceNamed is ReplaceFile for a function that takes the name of the file to write. The file of this name exists, and
// is empty.
func ReplaceNamed(name string, write func(temporary string) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), temporaryName)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // ignored, because err is more informative
		}
	}()
	if err := f.Close(); err != nil {
		return err
	}
	if err := write(f.Name()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
