package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Program is a mechanism that is a program in any language: each run answers once from the file of its side. The sides'
// files are two neighbouring datasets, made by the auditor.
//
// Command is split into words as a shell does, but no shell runs. In each word {input} stands for the name of the
// side's file; if no word has it, the file is standard input. {runs} stands for a number n: the program then prints n
// independent answers, one per line. If no word has it, each run is a process, and its answer is everything it prints,
// without white space at both ends.
type Program struct {
	Command         string
	Input, Neighbor string
	Timeout         time.Duration // of one process; 0: DefaultTimeout
}

// DefaultTimeout is how long one process may take.
const DefaultTimeout = time.Minute

const inputMark, runsMark = "{input}", "{runs}"

// Reasons why a program cannot be audited. A *ProgramError says which, and what happened.
var (
	ErrMissing = errors.New("it cannot be started")
	ErrInput   = errors.New("its input cannot be read")
	ErrCrash   = errors.New("it crashed")
	ErrHang    = errors.New("it takes too long")
	ErrFlood   = errors.New("it prints too much")
	ErrFew     = errors.New("it prints too few lines")
	ErrSilent  = errors.New("it prints nothing")
	ErrGarbage = errors.New("it prints what is no text")
)

// ProgramError is a failure of a program under audit.
type ProgramError struct {
	Kind   error // one of the above
	Side   Side
	Done   int    // outputs before it, since the program was last asked
	Detail string // what happened
	Hint   string // what may help; "" if nothing is known to
}

// Error says what happened, and where.
func (e *ProgramError) Error() string {
	return fmt.Sprintf("the program, on %s: %v: %s", e.Side, e.Kind, e.Detail)
}

// Unwrap is the kind of failure.
func (e *ProgramError) Unwrap() error { return e.Kind }

// Batched reports that one process gives many answers.
func (p Program) Batched() bool { return strings.Contains(p.Command, runsMark) }

// Check reports, before anything runs, an invalid command, a missing program, and an unreadable file.
func (p Program) Check() error {
	argv, err := words(p.Command)
	if err != nil {
		return err
	}
	if p.Timeout < 0 {
		return fmt.Errorf("%w: the timeout is below 0", ErrCommand)
	}
	for side := Data; side <= Neighbor; side++ {
		if !strings.Contains(argv[0], inputMark) { // else the file is the program
			if _, err := exec.LookPath(argv[0]); err != nil {
				return &ProgramError{
					Kind: ErrMissing, Side: side, Detail: reason(err),
					Hint: "is its name right, and may it be executed?",
				}
			}
		}
		if err := p.readable(side); err != nil {
			return err
		}
	}
	return nil
}

// readable reports a file that is not there, or that cannot be read again and again.
func (p Program) readable(side Side) error {
	name := p.input(side)
	info, err := os.Stat(name)
	if err != nil {
		return &ProgramError{Kind: ErrInput, Side: side, Detail: reason(err)}
	}
	if !info.Mode().IsRegular() {
		hint := ""
		if !info.IsDir() {
			hint = "a pipe can be read only once; write it to a file"
		}
		return &ProgramError{Kind: ErrInput, Side: side, Detail: name + " is no regular file", Hint: hint}
	}
	f, err := os.Open(name)
	if err != nil {
		return &ProgramError{Kind: ErrInput, Side: side, Detail: reason(err)}
	}
	return f.Close()
}

// reason is an error's text without the name of the system call.
func reason(err error) string {
	var path *os.PathError
	var run *exec.Error
	switch {
	case errors.As(err, &path):
		return path.Path + ": " + path.Err.Error()
	case errors.As(err, &run):
		return run.Name + ": " + run.Err.Error()
	}
	return err.Error()
}

func (p Program) input(side Side) string {
	if side == Data {
		return p.Input
	}
	return p.Neighbor
}

// Run runs the program until it has answered n times: in one process if the command has {runs}, otherwise in n
// processes, one after another.
func (p Program) Run(ctx context.Context, side Side, n int, yield func(output []byte) error) error {
	argv, err := words(p.Command)
	if err != nil {
		return err
	}
	if side != Data && side != Neighbor {
		return fmt.Errorf("%w: there is no %v", ErrOptions, side)
	}
	if err := p.readable(side); err != nil {
		return err
	}
	onStdin := !strings.Contains(p.Command, inputMark)
	for i, w := range argv {
		argv[i] = strings.NewReplacer(inputMark, p.input(side), runsMark, strconv.Itoa(n)).Replace(w)
	}
	c := call{argv: argv, side: side, file: p.input(side), timeout: p.Timeout}
	if c.timeout == 0 {
		c.timeout = DefaultTimeout
	}
	if onStdin {
		c.stdin = c.file
	}
	if p.Batched() {
		return c.lines(ctx, n, yield)
	}
	for i := range n {
		c.before = i
		if err := c.whole(ctx, yield); err != nil {
			return err
		}
	}
	return nil
}
