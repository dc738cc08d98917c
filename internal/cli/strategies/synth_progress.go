package strategies

import (
	"fmt"
	"sync/atomic"
	"time"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/synth"
)

// synthesized makes a result, and shows the progress.
func synthesized(s *console.Console, c *curator.Session, r synth.Request, told bool) (*synth.Result, error) {
	defer watched(s, &r, told)()
	return synth.Synthesize(s.Context(), c, r)
}

// watched shows the progress of a request and the time left on stderr, on a terminal or if told is true, until stop is
// called.
func watched(s *console.Console, r *synth.Request, told bool) (stop func()) {
	switch {
	case told && !console.Obeys(s.Stderr):
		last := time.Time{}
		r.Watch = func(p synth.Progress) {
			if now := time.Now(); now.Sub(last) >= lineEvery || p.Share == 1 {
				last = now
				s.Note("synthesizing: %s\n", progressText(p, 0))
			}
		}
	case console.Obeys(s.Stderr):
		var at atomic.Pointer[synth.Progress]
		r.Watch = func(p synth.Progress) { at.Store(&p) }
		return console.SpinText(s.Stderr, func(passed time.Duration) string {
			p := at.Load()
			if p == nil {
				return fmt.Sprintf("synthesizing … %d s", int(passed.Seconds()))
			}
			return "synthesizing: " + progressText(*p, passed-p.Passed)
		})
	}
	return func() {}
}

// lineEvery is the least time between two lines of progress.
const lineEvery = time.Second

// progressText describes the progress, and how much time is left if some time has passed since.
func progressText(p synth.Progress, since time.Duration) string {
	text := fmt.Sprintf("%d %% of the price, %s measured", int(100*p.Share), render.Plural(p.Measured, "marginal"))
	left := p.Left - max(since, 0)
	switch {
	case p.Left == 0 && p.Share < 1:
		return text
	case p.Share == 1 && left < 2*time.Second:
		return text + ", fitting the model"
	case p.Share == 1:
		return text + fmt.Sprintf(", fitting the model, at most about %s left", left.Round(time.Second))
	case left < 2*time.Second:
		return text + ", a second or two left"
	}
	return text + fmt.Sprintf(", about %s left", left.Round(time.Second))
}
