package audit

import (
	"errors"
	"fmt"
	"strings"
)

// ErrCommand reports an invalid command line, or one that names no program.
var ErrCommand = errors.New("invalid command")

// words splits a command line into words, as a shell does. White space separates words, except within '…' and "…".
// A backslash quotes the next character. Within '…' it is an ordinary character, and within "…" it quotes only ",
// \, $ and `. Nothing is expanded, and no shell runs.
func words(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	open, quote := false, rune(0)
	escaped := false
	for _, c := range line {
		switch {
		case c == 0:
			return nil, fmt.Errorf("%w: it contains a NUL character", ErrCommand)
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", c) {
				word.WriteByte('\\')
			}
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			open, escaped = true, true
		case c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			open, quote = true, c
		case strings.ContainsRune(" \t\r\n", c):
			if open {
				out = append(out, word.String())
				word.Reset()
				open = false
			}
		default:
			open = true
			word.WriteRune(c)
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("%w: a quote %c is not closed", ErrCommand, quote)
	case escaped:
		return nil, fmt.Errorf("%w: it ends in a backslash", ErrCommand)
	}
	if open {
		out = append(out, word.String())
	}
	if len(out) == 0 || out[0] == "" {
		return nil, fmt.Errorf("%w: it is empty", ErrCommand)
	}
	return out, nil
}
