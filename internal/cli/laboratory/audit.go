// Package laboratory implements the commands that examine privacy claims: account, calibrate, interpret, attack,
// channel and audit. They read no home and spend no budget.
package laboratory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"dither/account"
	"dither/audit"
	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// auditFlags are the flags that all audits share.
type auditFlags struct {
	epsilon, delta, runs, confidence string
	picture                          console.Picture
}

func (f *auditFlags) declare(s *console.Console) {
	s.FormatFlag("table", "json")
	s.Flag(&f.epsilon, "epsilon", "E",
		"the ε of the claim to test (default: the ε that NAME declares; for a program, no claim, only a bound on "+
			"ε at δ = 0)")
	s.Flag(&f.delta, "delta", "D", "the claim's δ (default 0)")
	runsFlag(s, &f.runs)
	s.Flag(&f.confidence, "confidence", "P", "the confidence of the whole report (default 0.999999)")
	s.Flag(&f.picture.File, "plot", "FILE", "draw the result as FILE.svg or FILE.png")
}

// runsFlag declares --runs, which audits by runs and audits of timing share.
func runsFlag(s *console.Console, into *string) {
	s.Flag(into, "runs", "N",
		"the number of runs on each dataset (default 20000); with timing, the number of pairs of each class "+
			"(default 200, or as many as --duration permits)")
}

// Audit is the command `dither audit`.
var Audit = console.Verb{
	Name: "audit",
	Args: "[NAME] | timing [--calibrate] | --command PROGRAM --input FILE --neighbour FILE [--epsilon E [--delta D]]",
	About: "test a privacy claim by running a program, or dither's own mechanism NAME, on two neighbouring " +
		"datasets, free",
	Run:   runAudit,
	More:  func(*console.Console) string { return auditHelp },
	Words: oursNames,
}

// runAudit audits a program, or one of dither's mechanisms, by running it. It reads no home and spends nothing.
func runAudit(s *console.Console, args []string) error {
	if len(args) > 0 && args[0] == "timing" {
		return runAuditTiming(s, args[1:])
	}
	var p audit.Program
	var f auditFlags
	timeout := ""
	f.declare(s)
	s.Flag(&p.Command, "command", "PROGRAM",
		"the program to run, with its arguments: {input} stands for the file (default: the file is standard input), "+
			"{runs} for the number of answers to print, one on each line (default: one process for each answer)")
	s.Flag(&p.Input, "input", "FILE", "one dataset")
	s.Flag(&p.Neighbor, "neighbour", "FILE", "its neighbour: the same dataset except for one person")
	s.Flag(&timeout, "timeout", "S", "the seconds that one process may take (default 60)")
	names, helped, err := s.Parse(spelled(args))
	if err != nil || helped {
		return err
	}
	if err := f.picture.Check(s); err != nil {
		return err
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	switch {
	case p.Command == "" && p.Input == "" && p.Neighbor == "" && timeout == "":
		return auditOurs(s, names, o, f.picture.File)
	case len(names) > 0:
		return console.Usage(
			"audit --command PROGRAM --input FILE --neighbour FILE takes no other argument, not %q: write the "+
				"program and its arguments in quotes after --command", names[0])
	case p.Command == "":
		return console.Usage("audit needs --command PROGRAM, such as \"python3 count.py {runs}\"")
	case p.Input == "" || p.Neighbor == "":
		return console.Usage("audit needs two neighbouring datasets: --input FILE and --neighbour FILE")
	}
	if timeout != "" {
		if p.Timeout, err = console.SecondsFlag("timeout", timeout); err != nil {
			return err
		}
	}
	if err := p.Check(); err != nil {
		return auditError(err)
	}
	for _, remark := range p.Remarks() {
		s.Note("note: %s\n", render.Printable(remark))
	}
	r, err := auditRuns(s, p, o)
	if err != nil {
		return auditError(err)
	}
	return showAudit(s, "the program", r, f.picture.File)
}

func (f *auditFlags) options() (o audit.Options, err error) {
	if f.epsilon != "" {
		o.Claim = &audit.Claim{}
		if o.Claim.Epsilon, err = console.EpsilonFlag(f.epsilon); err != nil {
			return o, err
		}
	}
	if f.delta != "" {
		if o.Claim == nil {
			return o, console.Usage("--delta needs --epsilon: the claim consists of both")
		}
		if o.Claim.Delta, err = console.DeltaFlag(f.delta); err != nil {
			return o, err
		}
	}
	if f.runs != "" {
		r, err := account.ParseNumber(f.runs)
		if err != nil || !r.IsInt() || r.Cmp(big.NewRat(100, 1)) < 0 || r.Cmp(big.NewRat(1e9, 1)) > 0 {
			return o, console.Usage("--runs must be an integer from 100 to 1e9: the number of runs on each dataset")
		}
		o.Runs = int(r.Num().Int64())
	}
	if f.confidence != "" {
		r, err := account.ParseNumber(f.confidence)
		if err != nil || r.Cmp(big.NewRat(1, 2)) < 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
			return o, console.Usage("--confidence must be at least 0.5 and below 1, such as 0.999999")
		}
		if o.Confidence, _ = r.Float64(); new(big.Rat).SetFloat64(o.Confidence).Cmp(r) < 0 {
			o.Confidence = math.Nextafter(o.Confidence, 1)
		}
		if o.Confidence >= 1 {
			return o, console.Usage("--confidence is too close to 1: give fewer nines")
		}
	}
	return o, nil
}

// auditRuns runs an audit until it ends or is interrupted. At a terminal, it shows progress. For a program that
// will take long, it prints the remaining time.
func auditRuns(s *console.Console, m audit.Mechanism, o audit.Options) (*audit.Report, error) {
	ctx, stop := console.Interruptible()
	defer stop()
	begun, last, estimated := time.Now(), time.Time{}, false
	terminal := console.Obeys(s.Stderr)
	p, program := m.(audit.Program)
	o.Progress = func(done, all int) {
		now := time.Now()
		if taken := now.Sub(begun); program && !estimated && taken > estimateAfter {
			estimated = true
			tellEstimate(s, time.Duration(float64(taken)/float64(done)*float64(all-done)), all, p.Batched())
		}
		if terminal && now.Sub(begun) > console.Patience && now.Sub(last) > console.Beat {
			last = now
			s.Note("\r\033[K%s of %s runs … %d s", render.Thousands(done), render.Thousands(all),
				int(now.Sub(begun).Seconds()))
		}
	}
	defer func() {
		if !last.IsZero() {
			s.Note("\r\033[K")
		}
	}()
	return audit.Run(ctx, m, o)
}

// estimateAfter is the time after which the remaining time is estimated. An estimate above longAudit is printed.
const (
	estimateAfter = 3 * time.Second
	longAudit     = 20 * time.Second
)

func tellEstimate(s *console.Console, left time.Duration, all int, batched bool) {
	if left < longAudit {
		return
	}
	hint := ""
	if !batched {
		hint = "; faster: write {runs} in the command, and let the program print that many answers in one process"
	}
	s.Note("note: %s runs on both datasets together will take about %s more%s\n",
		render.Thousands(all), roundTime(left), hint)
}

func roundTime(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f seconds", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.0f hours", d.Hours())
}

// auditError converts an audit's error to a public error. Wrong arguments are usage errors, and failures of the
// audited program have the code codeSubject.
func auditError(err error) error {
	var program *audit.ProgramError
	hint := ""
	if errors.As(err, &program) {
		hint = program.Hint
	}
	if errors.Is(err, audit.ErrUnlike) || errors.Is(err, audit.ErrRepeats) {
		hint = "draw fresh noise for each answer: not once for each process, and not from a seed that is a " +
			"constant or the clock's second"
	}
	code := codeSubject
	switch {
	case errors.Is(err, audit.ErrMissing), errors.Is(err, audit.ErrInput), errors.Is(err, audit.ErrCommand),
		errors.Is(err, audit.ErrOptions):
		code = curator.CodeUsage
	case errors.Is(err, context.Canceled):
		return &curator.Error{Code: curator.CodeCancelled, Message: "the audit was interrupted"}
	}
	return &curator.Error{Code: code, Message: err.Error(), Hint: hint}
}

// codeSubject is the error code for a program that fails during its audit.
const codeSubject curator.Code = "subject"

// spelled replaces --neighbor, the flag's former spelling, by --neighbour.
func spelled(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--" {
			break
		}
		name, value, joined := strings.Cut(a, "=")
		if name == "--neighbor" || name == "-neighbor" {
			out[i] = "--neighbour"
			if joined {
				out[i] += "=" + value
			}
		}
	}
	return out
}

const auditHelp = `
Each answer of the program is a line of numbers or words, and needs fresh noise. Exit code 3 means that the claim is refuted.

  dither audit --command "python3 average.py {runs}" --input people.csv --neighbour without_one.csv --epsilon 1 --runs 100000

audit timing measures what the time of an answer reveals about one unit, on made-up rows, and the delay that hides it:

  dither audit timing --rows 20000 --duration 600
  dither audit timing --calibrate
`
