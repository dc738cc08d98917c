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

// Program is a mechanism that is a program in any language. Each run answers once, from the file of its side. Input
// and Neighbor name the files of the two neighbouring datasets.
//
// Command is split into words as a shell does, but no shell runs. In each word, {input} stands for the name of the
// side's file. If no word contains {input}, the program reads the file from standard input. {runs} stands for a
// number n: the program then prints n independent answers, one per line. If no word contains {runs}, each run is a
// process of its own. Its answer is everything that it prints, without white space at both ends.
type Program struct {
	Command         string
	Input, Neighbor string
	Timeout         time.Duration // for one process; 0 means DefaultTimeout
}

// DefaultTimeout is the time that one process may take if [Program] sets no other.
const DefaultTimeout = time.Minute

const inputMark, runsMark = "{input}", "{runs}"

// The kinds of [ProgramError]: why a program cannot be audited.
var (
	ErrMissing = errors.New("it cannot be started")
	ErrInput   = errors.New("its input cannot be read")
	ErrCrash   = errors.New("it crashed")
	ErrHang    = errors.New("it takes too long")
	ErrFlood   = errors.New("it prints too much")
	ErrFew     = errors.New("it prints too few lines")
	ErrSilent  = errors.New("it prints nothing")
	ErrGarbage = errors.New("it prints something other than text")
)

// ProgramError is the failure of a program under audit.
type ProgramError struct {
	Kind   error // one of the errors above
	Side   Side
	Done   int    // outputs before the failure, in the same call of Run
	Detail string // what happened, in words
	Hint   string // how to fix it, or ""
}

// Error says what happened, and on which side.
func (e *ProgramError) Error() string {
	return fmt.Sprintf("the program, on %s: %v: %s", e.Side, e.Kind, e.Detail)
}

// Unwrap returns the kind of failure.
func (e *ProgramError) Unwrap() error { return e.Kind }

// Batched reports whether one process prints many answers.
func (p Program) Batched() bool { return strings.Contains(p.Command, runsMark) }

// Check returns an error if the command is invalid, if the program does not exist, or if an input file cannot be
// read. It runs nothing.
func (p Program) Check() error {
	argv, err := words(p.Command)
	if err != nil {
		return err
	}
	if p.Timeout < 0 {
		return fmt.Errorf("%w: the timeout must not be negative", ErrCommand)
	}
	for side := Data; side <= Neighbor; side++ {
		if !strings.Contains(argv[0], inputMark) { // otherwise the file itself is the program
			if _, err := exec.LookPath(argv[0]); err != nil {
				return &ProgramError{
					Kind: ErrMissing, Side: side, Detail: reason(err),
					Hint: "check its name, and that it is executable",
				}
			}
		}
		if err := p.readable(side); err != nil {
			return err
		}
	}
	return nil
}

// readable returns an error if the file of a side is missing, or cannot be read repeatedly.
func (p Program) readable(side Side) error {
	name := p.input(side)
	info, err := os.Stat(name)
	if err != nil {
		return &ProgramError{Kind: ErrInput, Side: side, Detail: reason(err)}
	}
	if !info.Mode().IsRegular() {
		hint := ""
		if !info.IsDir() {
			hint = "write the pipe's contents to a file: a pipe can be read only once"
		}
		return &ProgramError{Kind: ErrInput, Side: side, Detail: name + " is not a regular file", Hint: hint}
	}
	f, err := os.Open(name)
	if err != nil {
		return &ProgramError{Kind: ErrInput, Side: side, Detail: reason(err)}
	}
	return f.Close()
}

// reason returns an error's text without the name of the system call.
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

// Run runs the program until it has answered n times. If the command contains {runs}, one process gives all
// answers. Otherwise n processes run one after another.
func (p Program) Run(ctx context.Context, side Side, n int, yield func(output []byte) error) error {
	argv, err := words(p.Command)
	if err != nil {
		return err
	}
	if side != Data && side != Neighbor {
		return fmt.Errorf("%w: there is no side %v", ErrOptions, side)
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
