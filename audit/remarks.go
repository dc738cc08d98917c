package audit

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	// openMark matches a misspelt mark: a brace and the name of a mark that does not form {input} or {runs}
	openMark = regexp.MustCompile(`(?i)\{\s*(runs?|inputs?)\b`)
	// shells names the shells that take a script as an argument; a file name inside that script is parsed as code
	shells = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true}
	plain  = regexp.MustCompile(`^[A-Za-z0-9_./+-]*$`)
)

// Remarks returns warnings about likely mistakes in the command and the files. They do not prevent an audit.
func (p Program) Remarks() (out []string) {
	argv, err := words(p.Command)
	if err != nil {
		return nil
	}
	rest := strings.NewReplacer(inputMark, "", runsMark, "").Replace(p.Command)
	if mark := openMark.FindString(rest); mark != "" {
		out = append(
			out,
			"The command has "+mark+" in it, which dither does not replace. It replaces only {input} and {runs}, "+
				"written exactly like that.",
		)
	}
	script := shells[filepath.Base(argv[0])] && len(argv) > 2 && argv[1] == "-c" && strings.Contains(argv[2], inputMark)
	if script && !plain.MatchString(p.Input+p.Neighbor) {
		out = append(
			out,
			`The shell parses the file name as part of its script, but the name contains special characters. `+
				`Give it as an argument: sh -c 'wc -l < "$0"' {input}`,
		)
	}
	if same, err := sameContents(p.Input, p.Neighbor); err == nil && same {
		out = append(out, "The two files have equal contents: no output can distinguish them.")
	}
	return out
}

func sameContents(a, b string) (same bool, err error) {
	f, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // closing a file that was only read cannot lose data
	g, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer func() { _ = g.Close() }() // closing a file that was only read cannot lose data
	x, y := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, errX := io.ReadFull(f, x)
		m, errY := io.ReadFull(g, y)
		switch {
		case !bytes.Equal(x[:n], y[:m]):
			return false, nil
		case n < len(x) || errX != nil || errY != nil:
			if errors.Is(errX, io.ErrUnexpectedEOF) || errors.Is(errX, io.EOF) {
				return true, nil
			}
			return false, errX
		}
	}
}
