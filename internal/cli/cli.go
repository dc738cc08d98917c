// Package cli is the command line: a door to the curator for the data owner, who can read the files, and for analysts whom
// the owner lets run it.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"dither/curator"
	"dither/internal/nearest"
)

// Exit codes.
const (
	exitAnswered  = 0
	exitFailed    = 1
	exitUsage     = 2
	exitRefused   = 3
	exitExhausted = 4
	exitGivenUp   = 130 // as a shell has it of what Ctrl-C ends
)

// Version is the program's version.
const Version = "0.1.0-dev"

// command is one verb.
type command struct {
	name, args, about string
	run               func(*session, []string) error
}

// commands lists the verbs in the order of help.
func commands() []command {
	return []command{
		{"init", "DIR [--from FILE [--unit COLUMN] [--delimiter C] [--null TEXT]]", "make a home: a ledger, and a draft of its policy", runInit},
		{"policy", "check | accept [--dry-run] [--abandon]", "check the policy file; put a changed one in force", runPolicy},
		{"seal", "[TABLE …] [--shared] [--copy SCHEMA] [--abandon] | --remove N|old TABLE …", "read the sources into numbered private versions (owner)", runSeal},
		{"tables", "", "what may be asked about, free", runTables},
		{"explain", "SQL | -f FILE | -", "what a question would cost, and how exact it would be, free", runExplain},
		{"query", "SQL | -f FILE | -", "answer a question", runQuery},
		{"test", "gof | proportions | independence | means | binomial | power", "test a hypothesis on noisy numbers, published or asked of a table, with valid p-values", runTest},
		{"fit", "linear | logistic | poisson | network --table T --formula 'y ~ x1 + x2 + g + x1:x2' [--where CONDITION]", "fit a model to a table, with errors that are sampling's and the noise's", runFit},
		{"estimate", "mean | variance | quantile | covariance --table T --column X[,Y…]", "estimate what statisticians ask of a table, with intervals", runEstimate},
		{"cluster", "--table T --column X,Y -k K", "find groups of rows: k-means", runCluster},
		{"budget", "", "what was spent, and what remains", runBudget},
		{"ledger", "head | list | show N | verify [--against HEAD] | merge HOME HOME [--rows N] [--into HOME] | resume | clock | recover [--against HEAD] [--spent SUM]", "read and check the ledger (owner)", runLedger},
		{"account", "--delta D | --epsilon E MECHANISM …", "what a job that is fixed in advance loses, by every accountant, free", runAccount},
		{"calibrate", "gaussian | discrete-gaussian | laplace | discrete-laplace | \"NAME key=? …\" … --epsilon E --delta D", "the least noise that keeps a promise, free", runCalibrate},
		{"interpret", "--epsilon E [--delta D] | [--delta D] MECHANISM … | --example smoking", "what a promise means to people: beliefs, tests, groups, free", runInterpret},
		{"attack", "reconstruct | difference | membership | name-and-shame", "the classical attacks on what is published, on made-up people or a table, free", runAttack},
		{"channel", "MATRIX.csv | - | --example NAME", "the ε of a mechanism with finitely many outputs, exactly, from its probabilities", runChannel},
		{"audit", "[NAME] | timing [--calibrate] | --command PROGRAM --input FILE --neighbour FILE [--epsilon E [--delta D]]", "what runs on two neighbouring data sets say against the promise of dither's own mechanism NAME, or of a program, free", runAudit},
		{"demo", "[--keep DIR] | data --rows N [--seed S] [--format csv|parquet] [--out DIR]", "a tour on real and made-up data; or a made-up town to play with", runDemo},
		{"completion", "bash | zsh | fish", "print what makes a shell complete commands and flags", runCompletion},
		{"version", "", "print the version", runVersion},
	}
}

// session is one run of the program.
type session struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	home   string // -C
	format string // --format
	flags  *flag.FlagSet
	lost   error           // the first failure to write to stdout
	told   bool            // something was written there
	ctx    context.Context //nolint:containedctx // of this one run; nil until an engine is asked
	forget func()          // the signals that end ctx
	exit   int             // of a command that answered: exitRefused where a claim was refuted
}

// errUsage is an error of the command line itself.
var errUsage = errors.New("usage")

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

// Run runs the program and returns its exit code: 0 answered, 2 usage, 3 refused by the policy, unsupported SQL, or a
// claim refuted, 4 budget exhausted, 130 given up on a signal, 1 anything else.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := &session{stdin: stdin, stdout: stdout, stderr: stderr, home: os.Getenv("DITHER_HOME"), format: "table"}
	if s.home == "" {
		s.home = "."
	}
	if wantsJSON(args) { // known before a flag that is none is found
		s.format = "json"
	}
	err := s.dispatch(args)
	if s.forget != nil {
		s.forget()
	}
	if err == nil && s.lost != nil {
		err = fmt.Errorf("the output could not be written: %w (what was answered is recorded: ask again, free)", s.lost)
	}
	if err == nil {
		return s.exit
	}
	s.report(err)
	return exitCode(err)
}

// wantsJSON reports --format json among the arguments, wherever it stands.
func wantsJSON(args []string) bool {
	for i, a := range args {
		switch strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-") {
		case "format=json":
			return a[0] == '-'
		case "format":
			return a[0] == '-' && i+1 < len(args) && args[i+1] == "json"
		}
	}
	return false
}

// dispatch takes -C before the verb, then the verb's own flags and -C again after it.
func (s *session) dispatch(args []string) error {
	s.flags = newFlags("dither")
	s.flags.StringVar(&s.home, "C", s.home, "")
	version := s.flags.Bool("version", false, "")
	if err := s.flags.Parse(args); err != nil {
		return s.flagError(err)
	}
	args = s.flags.Args()
	switch {
	case *version:
		return runVersion(s, nil)
	case len(args) == 0:
		return usage("no command")
	case args[0] == "help":
		return s.runHelp(args[1:])
	}
	return s.run(args[0], args[1:])
}

// run runs a command.
func (s *session) run(name string, args []string) error {
	for _, c := range commands() {
		if c.name == name {
			s.flags = newFlags(c.name)
			s.flags.StringVar(&s.home, "C", s.home, "")
			return c.run(s, args)
		}
	}
	names := []string{"help"}
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return usage("there is no command %q%s", name, didYouMean(nearest.Name(name, names)))
}

func newFlags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f
}

func (s *session) flagError(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		s.help()
		return nil
	}
	return wrongFlag(s.flags, err)
}

// parse reads flags wherever they stand among the arguments, and returns the others.
func (s *session) parse(args []string) (rest []string, helped bool, err error) {
	args = oneColumn(s.flags, args)
	for {
		if err := s.flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				s.help()
				return nil, true, nil
			}
			return nil, false, wrongFlag(s.flags, err)
		}
		args = s.flags.Args()
		if len(args) == 0 {
			return rest, false, s.checkFormat()
		}
		rest, args = append(rest, args[0]), args[1:]
	}
}

func (s *session) formatFlag() { s.flags.StringVar(&s.format, "format", s.format, "") }

// formats are what --format takes.
var formats = []string{"table", "json", "csv", "markdown"}

func (s *session) checkFormat() error {
	if slices.Contains(formats, s.format) {
		return nil
	}
	return usage("--format is table, json, csv or markdown, not %q", s.format)
}

func (s *session) print(format string, args ...any) {
	s.told = true
	if _, err := fmt.Fprintf(s.stdout, format, args...); err != nil && s.lost == nil {
		s.lost = err
	}
}

// note tells the person at the terminal something that is not the answer.
//
// Where stderr cannot be written there is nobody left to tell.
func (s *session) note(format string, args ...any) { _, _ = fmt.Fprintf(s.stderr, format, args...) }

// report writes an error: as JSON on stdout if that was asked for, else in words on stderr. So it does where the answer stands there, of which a
// part failed that came after it: stdout has one JSON value.
func (s *session) report(err error) {
	e := asError(err)
	if s.flags != nil {
		if f := s.flags.Lookup("fresh"); f != nil && f.Value.String() == "true" {
			e.Retry = false // what the command asked before would be paid again
		}
	}
	if errors.Is(err, errUsage) && s.flags != nil && s.flags.Name() != "dither" {
		e.Hint = fmt.Sprintf("try `dither help %s`", s.flags.Name())
	}
	if s.format == "json" && !s.told {
		if text, jsonErr := e.MarshalJSON(); jsonErr == nil {
			s.print("%s\n", printableJSON(text))
			return
		}
	}
	place := ""
	if e.Line > 0 {
		place = fmt.Sprintf("%d:%d: ", e.Line, e.Column)
	}
	s.note("dither: %s%s\n", place, printableLines(e.Message))
	if e.Hint != "" {
		s.note("  %s\n", printableLines(e.Hint))
	}
}

// asError makes the one public form of any error.
func asError(err error) *curator.Error {
	var e *curator.Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, errUsage) {
		return &curator.Error{Code: curator.CodeUsage, Message: strings.TrimPrefix(err.Error(), "usage: "), Hint: "try `dither help`"}
	}
	if errors.Is(err, context.Canceled) { // between two questions
		return &curator.Error{Code: curator.CodeCancelled, Message: "it was given up", Hint: "what was answered already can be asked again at no cost", Retry: true}
	}
	return &curator.Error{Code: curator.CodeHome, Message: err.Error()}
}

func exitCode(err error) int {
	switch asError(err).Code {
	case curator.CodeUsage:
		return exitUsage
	case curator.CodeSQL, curator.CodePolicy, curator.CodeAnalyst:
		return exitRefused
	case curator.CodeExhausted:
		return exitExhausted
	case curator.CodeCancelled:
		return exitGivenUp
	}
	return exitFailed
}

func runVersion(s *session, args []string) error {
	if _, _, err := s.parse(args); err != nil {
		return err
	}
	s.print("dither %s\n", Version)
	return nil
}
