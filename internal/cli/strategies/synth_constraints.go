package strategies

import (
	"io"
	"os"
	"strings"

	"dither/internal/cli/console"
)

// listsOf parses lists of columns, such as age=18,65;income=1000,10000.
func listsOf(flag, text string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, one := range strings.Split(text, ";") {
		if strings.TrimSpace(one) == "" {
			continue
		}
		name, at, found := strings.Cut(one, "=")
		if name = strings.TrimSpace(name); !found || name == "" || out[name] != nil {
			return nil, console.Usage("%s: %q is not COLUMN=A,B,… of a further column", flag, one)
		}
		out[name] = listed(at)
	}
	return out, nil
}

// mostConstraints bounds a file of constraints.
const mostConstraints = 1 << 20

// joins returns the meaning of a flag of a list that may be given several times: each adds to the list.
func joins(into *string, by string) func(string) error {
	return func(text string) error {
		if *into != "" {
			text = *into + by + text
		}
		*into = text
		return nil
	}
}

// constraintsOf reads a file of constraints, and adds further ones. Empty lines, and those that begin with #, are comments.
func constraintsOf(file string, further []string) (out []string, err error) {
	if file != "" {
		f, err := os.Open(file)
		if err != nil {
			return nil, console.Usage("--constraints: %v", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		text, err := io.ReadAll(io.LimitReader(f, mostConstraints+1))
		if err != nil {
			return nil, console.Usage("--constraints: %v", err)
		}
		if len(text) > mostConstraints {
			return nil, console.Usage("--constraints: %s has more than %d bytes", file, mostConstraints)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				out = append(out, line)
			}
		}
	}
	return append(out, further...), nil
}
