// Package console is the environment of every command: the streams, the home, the command's flags, and functions
// that ask, print and report errors. A command declares each of its flags once, with its help. The flag set, the
// help text and the shells' completion are generated from this declaration.
package console

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"dither/internal/cli/render"
)

// Verb is a command of the command line.
type Verb struct {
	Name  string
	Args  string // as printed in the usage line; words that are not placeholders are completed too
	About string
	Run   func(*Console, []string) error
	More  func(*Console) string // text below the flags in help; may be nil
	Words func() []string       // further words for completion, besides those of Args
}

// Console is the state of one run of the program.
type Console struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	Home   string        // value of -C
	Format string        // value of --format
	Flags  *flag.FlagSet // flags of the current command
	Exit   int           // exit code of a command without error, such as ExitRefused for a refuted claim

	verb    Verb            // current command
	analyst *string         // value of --analyst; nil if the command has no such flag
	formats []string        // formats that the command prints
	lost    error           // first error of writing to Stdout
	told    bool            // something was written to Stdout
	ctx     context.Context //nolint:containedctx // lives as long as the run; nil until Context is called
	forget  func()          // stops listening for the signals that cancel ctx
}

// New returns the state of a run. The home comes from the environment variable DITHER_HOME, and the format is
// table.
func New(stdin io.Reader, stdout, stderr io.Writer) *Console {
	s := &Console{Stdin: stdin, Stdout: stdout, Stderr: stderr, Home: os.Getenv("DITHER_HOME"), Format: "table"}
	if s.Home == "" {
		s.Home = "."
	}
	return s
}

// Finish reports err or a lost output, if there is one, and returns the exit code of the run.
func (s *Console) Finish(err error) int {
	if s.forget != nil {
		s.forget()
	}
	if err == nil {
		err = s.Lost()
	}
	if err == nil {
		return s.Exit
	}
	s.report(err)
	return exitCode(err)
}

// Lost returns an error if some output could not be written, or nil.
func (s *Console) Lost() error {
	if s.lost == nil {
		return nil
	}
	return fmt.Errorf("the output could not be written: %w (the answer is recorded: ask again, free)", s.lost)
}

// Take makes v the current command. The command's Run declares its flags.
func (s *Console) Take(v Verb) {
	s.verb, s.Flags = v, flag.NewFlagSet(v.Name, flag.ContinueOnError)
	s.Flags.SetOutput(io.Discard)
	s.Flag(&s.Home, "C", "HOME", AboutHome)
}

// Print writes to standard output. The first error of writing becomes the error of the run.
func (s *Console) Print(format string, args ...any) {
	s.told = true
	if _, err := fmt.Fprintf(s.Stdout, format, args...); err != nil && s.lost == nil {
		s.lost = err
	}
}

// JSON prints a value as JSON, with escapes for characters that could control a terminal.
//
// If the value has a MarshalJSON method, JSON calls it directly, so that this method decides whether <, > and & are
// escaped. For other values, they are escaped.
func (s *Console) JSON(v any) error {
	marshal := func() ([]byte, error) { return json.Marshal(v) }
	if m, ok := v.(json.Marshaler); ok {
		marshal = m.MarshalJSON
	}
	text, err := marshal()
	if err != nil {
		return err
	}
	s.Print("%s\n", render.PrintableJSON(text))
	return nil
}

// CSV writes records to standard output as CSV.
func (s *Console) CSV(records [][]string) error {
	return render.WriteCSV(s.Stdout, Obeys(s.Stdout), records)
}

// Note writes a message that is not part of the answer to stderr. It ignores errors, because there is no other
// place for a message.
func (s *Console) Note(format string, args ...any) { _, _ = fmt.Fprintf(s.Stderr, format, args...) }
