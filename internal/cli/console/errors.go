package console

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dither/curator"
	"dither/internal/cli/render"
)

// Exit codes of the program.
const (
	ExitAnswered  = 0
	exitFailed    = 1
	ExitUsage     = 2
	ExitRefused   = 3
	ExitExhausted = 4
	ExitGivenUp   = 130 // the code of a shell for a program that Ctrl-C ends
)

// ErrUsage marks errors of the command line itself.
var ErrUsage = errors.New("usage")

// Usage returns an error for wrong arguments.
func Usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUsage, fmt.Sprintf(format, args...))
}

// report writes an error. It writes JSON to stdout if --format is json and stdout is still empty, and text to
// stderr otherwise. If an answer has been written already, stdout therefore still contains a single JSON value.
func (s *Console) report(err error) {
	e := asError(err)
	if s.Flags != nil {
		if f := s.Flags.Lookup("fresh"); f != nil && f.Value.String() == "true" {
			e.Retry = false // a retry with --fresh would pay again for the questions that were answered
		}
	}
	if errors.Is(err, ErrUsage) && s.Flags != nil && s.Flags.Name() != "dither" {
		e.Hint = fmt.Sprintf("try `dither help %s`", s.Flags.Name())
	}
	if s.Format == "json" && !s.told {
		if text, jsonErr := e.MarshalJSON(); jsonErr == nil {
			s.Print("%s\n", render.PrintableJSON(text))
			return
		}
	}
	place := ""
	if e.Line > 0 {
		place = fmt.Sprintf("%d:%d: ", e.Line, e.Column)
	}
	s.Note("dither: %s%s\n", place, render.PrintableLines(e.Message))
	if e.Hint != "" {
		s.Note("  %s\n", render.PrintableLines(e.Hint))
	}
}

// asError converts any error to the public error type.
func asError(err error) *curator.Error {
	var e *curator.Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, ErrUsage) {
		return &curator.Error{
			Code:    curator.CodeUsage,
			Message: strings.TrimPrefix(err.Error(), "usage: "),
			Hint:    "try `dither help`",
		}
	}
	if errors.Is(err, context.Canceled) { // interrupted between two questions
		return &curator.Error{
			Code:    curator.CodeCancelled,
			Message: "the command was cancelled",
			Hint:    "questions that were answered before can be asked again, free",
			Retry:   true,
		}
	}
	return &curator.Error{Code: curator.CodeHome, Message: err.Error()}
}

// exitCode returns the exit code of a run that failed with err.
func exitCode(err error) int {
	switch asError(err).Code {
	case curator.CodeUsage:
		return ExitUsage
	case curator.CodeSQL, curator.CodePolicy, curator.CodeAnalyst:
		return ExitRefused
	case curator.CodeExhausted:
		return ExitExhausted
	case curator.CodeCancelled:
		return ExitGivenUp
	}
	return exitFailed
}
