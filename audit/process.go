package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// call describes one process of a program, with limits on its time and output.
type call struct {
	argv    []string
	side    Side
	file    string // the file of this side
	stdin   string // equal to file, or "" if the process has no standard input
	timeout time.Duration
	before  int // outputs of earlier processes of the same run
}

// longestOutput is the largest number of bytes of one output.
const longestOutput = 1 << 20

// lines runs a process that prints n outputs, one per line, and passes each to yield.
func (c call) lines(ctx context.Context, n int, yield func([]byte) error) error {
	return c.process(ctx, func(out io.Reader) (done int, err error) {
		lines := bufio.NewScanner(out)
		lines.Buffer(make([]byte, 64<<10), longestOutput)
		for lines.Scan() {
			line := bytes.TrimSpace(lines.Bytes())
			if done == n {
				if len(line) == 0 {
					continue
				}
				return done, c.fails(ErrFlood, done, fmt.Sprintf("more than the %d requested lines", n),
					"print one line for each answer, and nothing else, to standard output")
			}
			if len(line) == 0 && n > 1 {
				return done, c.fails(ErrFew, done, fmt.Sprintf("line %d is empty", done+1),
					"print one line for each answer, and nothing else, to standard output")
			}
			if err := c.text(line, done); err != nil {
				return done, err
			}
			if err := yield(line); err != nil {
				return done, err
			}
			done++
		}
		if errors.Is(lines.Err(), bufio.ErrTooLong) {
			return done, c.fails(ErrFlood, done, fmt.Sprintf("a line of more than %d bytes", longestOutput), "")
		}
		return done, lines.Err()
	}, func(done int) error {
		switch done {
		case n:
			return nil
		case 0:
			return c.fails(ErrSilent, 0, "no line at all", "check that it prints to standard output")
		}
		return c.fails(ErrFew, done, fmt.Sprintf("%d of the %d requested lines", done, n),
			"{runs} is the number of requested answers: print one answer for each line")
	})
}

// whole runs a process that prints one output, and passes it to yield.
func (c call) whole(ctx context.Context, yield func([]byte) error) error {
	var text []byte
	return c.process(ctx, func(out io.Reader) (int, error) {
		var err error
		text, err = io.ReadAll(io.LimitReader(out, longestOutput+1))
		if len(text) > longestOutput {
			return 0, c.fails(ErrFlood, 0, fmt.Sprintf("more than %d bytes", longestOutput), "")
		}
		return 0, err
	}, func(int) error {
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			return c.fails(ErrSilent, 0, "no output at all", "check that it prints to standard output")
		}
		if err := c.text(text, 0); err != nil {
			return err
		}
		return yield(text)
	})
}

// text returns an error if an output is not UTF-8, or contains control characters. done is the number of earlier
// outputs.
func (c call) text(output []byte, done int) error {
	if !utf8.Valid(output) {
		return c.fails(ErrGarbage, done, fmt.Sprintf("output %d is not UTF-8", done+1),
			"print text: the audit compares numbers and words, not bytes")
	}
	if i := bytes.IndexFunc(output,
		func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\r\n\f\v", r) }); i >= 0 {
		return c.fails(ErrGarbage, done, fmt.Sprintf("output %d contains the control character "+
			"0x%02x", done+1, output[i]),
			"print plain text, without colours or other control sequences")
	}
	return nil
}

func (c call) fails(kind error, done int, detail, hint string) error {
	return &ProgramError{Kind: kind, Side: c.side, Done: c.before + done, Detail: detail, Hint: hint}
}

// process runs one process. The function take reads the process's output and returns the number of outputs. If the
// process succeeds, the function end checks this number.
//
// The process runs in a process group of its own. The group is killed when the process ends, when its time is up,
// when ctx ends, and when the function take returns an error. A child that left the group may live on. It cannot
// delay the audit, because the pipe is closed when the time is up.
func (c call) process(ctx context.Context, take func(io.Reader) (int, error), end func(done int) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // a child of the process may hold stderr open
	complaint := &head{}
	cmd.Stderr = complaint
	if c.stdin != "" {
		in, err := os.Open(c.stdin)
		if err != nil {
			return c.fails(ErrInput, 0, reason(err), "")
		}
		defer func() { _ = in.Close() }() // closing a file that was only read cannot lose data
		cmd.Stdin = in
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return c.fails(ErrMissing, 0, reason(err), "")
	}
	if err := cmd.Start(); err != nil {
		return c.fails(ErrMissing, 0, reason(err), "check its name, and that it is executable")
	}
	group := &group{leader: cmd.Process.Pid}
	stop := context.AfterFunc(limited, func() {
		group.kill()
		_ = out.Close()
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		awaitEnd(group.leader)
		group.kill()
	}()
	done, failed := take(out)
	if failed != nil {
		group.kill()
	}
	<-ended
	group.reaped()
	err = cmd.Wait()
	stop()
	if errors.Is(err, exec.ErrWaitDelay) { // the process succeeded, but a child holds stderr open
		err = nil
	}
	var program *ProgramError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(failed, &program):
		return failed
	case limited.Err() != nil:
		return c.fails(ErrHang, done, fmt.Sprintf("more than %v, after %s", c.timeout, outputs(c.before+done)),
			"set a longer --timeout, or fewer --runs")
	case failed != nil:
		return failed
	case err != nil:
		return c.crash(done, err, complaint.line())
	}
	return end(done)
}

func outputs(n int) string {
	if n == 1 {
		return "1 output"
	}
	return fmt.Sprintf("%d outputs", n)
}
