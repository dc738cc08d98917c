//go:build !linux

package audit

import (
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// awaitEnd returns when a child process has ended. It does not reap the child, so that the system cannot reuse its
// process number yet. It polls ps, because systems other than Linux may lack a system call for this.
func awaitEnd(child int) {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(child)).Output()
		if err != nil || strings.HasPrefix(strings.TrimSpace(string(state)), "Z") {
			return
		}
		time.Sleep(pause)
	}
}
