package release

import (
	"testing"
	"time"
)

// The computer's clock reaches what has passed at once, and what is to come later.
func TestWallClock(t *testing.T) {
	now := wall{}.Now()
	reached, stop := wall{}.Reaching(now)
	defer stop()
	<-reached
	reached, stop = wall{}.Reaching(now.Add(time.Hour))
	stop()
	select {
	case <-reached:
		t.Error("an hour has passed")
	default:
	}
}
