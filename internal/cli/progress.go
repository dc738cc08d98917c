package cli

import (
	"fmt"
	"io"
	"time"

	"dither/curator"
)

// What a person waits before being told that something goes on, and how often the sign of life changes.
const (
	patience = time.Second
	beat     = 100 * time.Millisecond
)

// answer asks, with a sign of life on stderr where a person waits at a terminal.
func (s *session) answer(c *curator.Curator, q curator.Question) (*curator.Release, error) {
	if obeys(s.stderr) {
		defer spin(s.stderr, "answering")()
	}
	return c.Answer(s.context(), q)
}

// spin shows after a while that something goes on, and for how long, until stop is called; then it clears the line. Stop
// returns when nothing more will be written.
//
// Where w cannot be written there is nobody left to tell.
func spin(w io.Writer, what string) (stop func()) {
	begun, done, gone := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		wait := time.NewTimer(patience)
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
				wait.Reset(beat)
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}
