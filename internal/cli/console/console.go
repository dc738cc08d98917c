// Package console is what every verb of the command line is given: the streams, the home, the verb's flags, and the ways to
// ask, to answer and to fail. A verb declares each of its flags once, with its help: the FlagSet, the help text and the
// shells' completion are made of that.
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

// Verb is a verb of the command line.
type Verb struct {
	Name  string
	Args  string // as the line of usage shows them; words to be typed as they stand are completed too
	About string
	Run   func(*Console, []string) error
	More  func(*Console) string // the text below the flags in help; nil for none
	Words func() []string       // further words that complete the verb, beside those of Args
}

// Console is one run of the program.
type Console struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	Home   string        // -C
	Format string        // --format
	Flags  *flag.FlagSet // of the verb at hand
	Exit   int           // the exit code of a verb that answered: ExitRefused where a claim was refuted

	verb    Verb            // the one at hand
	analyst *string         // --analyst, of a verb that has it
	formats []string        // that it prints
	lost    error           // the first failure to write to Stdout
	told    bool            // something was written there
	ctx     context.Context //nolint:containedctx // of this one run; nil until an engine is asked
	forget  func()          // stops listening to the signals that end ctx
}

// New is a run of the program in the home that the environment names, with tables as its format.
func New(stdin io.Reader, stdout, stderr io.Writer) *Console {
	s := &Console{Stdin: stdin, Stdout: stdout, Stderr: stderr, Home: os.Getenv("DITHER_HOME"), Format: "table"}
	if s.Home == "" {
		s.Home = "."
	}
	return s
}

// Finish reports what the run failed with, if it did, and returns its exit code.
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

// Lost is the error of an output that could not be written, or nil.
func (s *Console) Lost() error {
	if s.lost == nil {
		return nil
	}
	return fmt.Errorf("the output could not be written: %w (what was answered is recorded: ask again, free)", s.lost)
}

// Take makes a verb the one at hand. Its Run declares the flags.
func (s *Console) Take(v Verb) {
	s.verb, s.Flags = v, flag.NewFlagSet(v.Name, flag.ContinueOnError)
	s.Flags.SetOutput(io.Discard)
	s.Flag(&s.Home, "C", "HOME", AboutHome)
}

// Print writes to standard output. The first failure to write is the error of the run.
func (s *Console) Print(format string, args ...any) {
	s.told = true
	if _, err := fmt.Fprintf(s.Stdout, format, args...); err != nil && s.lost == nil {
		s.lost = err
	}
}

// JSON prints a value as JSON that cannot steer a terminal.
//
// A result's own MarshalJSON decides whether to escape <, > and &; they are escaped in results that have none.
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

// CSV writes records to standard output.
func (s *Console) CSV(records [][]string) error {
	return render.WriteCSV(s.Stdout, Obeys(s.Stdout), records)
}

// Note tells the person at the terminal something that is not the answer.
//
// Where stderr cannot be written there is nobody left to tell.
func (s *Console) Note(format string, args ...any) { _, _ = fmt.Fprintf(s.Stderr, format, args...) }
