//go:build !linux

package audit

import (
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// awaitEnd returns when a child has ended, and leaves it to be waited for: until then its number cannot be another's.
// Where no system call is known for that, ps is asked.
func awaitEnd(child int) {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(child)).Output()
		if err != nil || strings.HasPrefix(strings.TrimSpace(string(state)), "Z") {
			return
		}
		time.Sleep(pause)
	}
}
