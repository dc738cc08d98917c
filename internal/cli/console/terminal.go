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
	usualWidth   = 80 // default if the terminal's width is unknown
	widestChart  = 160
	fewestColumn = 40
)

// ChartWidth returns the width of the terminal, within limits. If w is no terminal, it returns the value of
// COLUMNS, or 80.
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

// Obeys reports whether w is a terminal that interprets control sequences.
func Obeys(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// Colourful reports whether w is a terminal that shows colours. The user can disable them with NO_COLOR
// (https://no-color.org).
func Colourful(w any) bool { return Obeys(w) && os.Getenv("NO_COLOR") == "" }

// isTerminal reports whether w is a character device, so that a person probably reads it.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Patience is the delay before a progress message, and Beat is the interval between its updates.
const (
	Patience = time.Second
	Beat     = 100 * time.Millisecond
)

// Spin starts a progress message on w. After a delay, it shows what is in progress and the elapsed time. stop
// clears the line, and returns when nothing more will be written.
//
// Spin ignores errors of writing, because there is no other place for a message.
func Spin(w io.Writer, what string) (stop func()) {
	return SpinText(w, func(passed time.Duration) string { return fmt.Sprintf("%s … %d s", what, int(passed.Seconds())) })
}

// SpinText is Spin with a text that depends on the elapsed time.
func SpinText(w io.Writer, text func(passed time.Duration) string) (stop func()) {
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
				_, _ = fmt.Fprintf(w, "\r%c %s\033[K", wheel[i%len(wheel)], text(time.Since(begun)))
				wait.Reset(Beat)
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}
