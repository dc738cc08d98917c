package cli

import (
	"os"
	"strconv"

	"dither/curator"
	"dither/internal/plot"

	"golang.org/x/term"
)

// Widths of a text chart, in columns.
const (
	usualWidth   = 80 // where no terminal says its own
	widestChart  = 160
	fewestColumn = 40
)

// printChart prints an answer as bars, below its table.
func (s *session) printChart(r *curator.Release) error {
	text, err := plot.Text(chartOf(r), chartWidth(s.stdout), colourful(s.stdout))
	if err != nil {
		return err
	}
	s.print("\n%s", text)
	return nil
}

// chartWidth is the terminal's width, within reason; else what COLUMNS says, or 80.
func chartWidth(w any) int {
	width := usualWidth
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil {
		width = n
	}
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			width = n
		}
	}
	return max(fewestColumn, min(width, widestChart))
}

// obeys reports a terminal that takes more than text: one that moves its cursor.
func obeys(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// colourful reports a terminal whose user has not asked for no colours (https://no-color.org).
func colourful(w any) bool { return obeys(w) && os.Getenv("NO_COLOR") == "" }
