package console

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/term"
)

// Widths of a text chart, in columns.
const (
	usualWidth   = 80 // where no terminal says its own
	widestChart  = 160
	fewestColumn = 40
)

// ChartWidth is the terminal's width, within reason; else what COLUMNS says, or 80.
func ChartWidth(w any) int {
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

// Obeys reports a terminal that takes more than text: one that moves its cursor.
func Obeys(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// Colourful reports a terminal whose user has not asked for no colours (https://no-color.org).
func Colourful(w any) bool { return Obeys(w) && os.Getenv("NO_COLOR") == "" }

// isTerminal reports whether a person is likely to be looking.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// What a person waits before being told that something goes on, and how often the sign of life changes.
const (
	Patience = time.Second
	Beat     = 100 * time.Millisecond
)

// Spin shows after a while that something goes on, and for how long, until stop is called; then it clears the line. Stop
// returns when nothing more will be written.
//
// Where w cannot be written there is nobody left to tell.
func Spin(w io.Writer, what string) (stop func()) {
	begun, done, gone := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		wait := time.NewTimer(Patience)
		defer wait.Stop()
		for i := 0; ; i++ {
			select {
			case <-done:
				if i > 0 {
					_, _ = fmt.Fprint(w, "\r\033[K")
				}
				return
			case <-wait.C:
				wheel := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
				_, _ = fmt.Fprintf(w, "\r%c %s … %d s", wheel[i%len(wheel)], what, int(time.Since(begun).Seconds()))
				wait.Reset(Beat)
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}
