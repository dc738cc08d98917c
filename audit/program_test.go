package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// sides writes two files, and returns their names.
func sides(t testing.TB, data, neighbor string) (string, string) {
	t.Helper()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a file.txt"), filepath.Join(dir, "b.txt")
	for name, text := range map[string]string{a: data, b: neighbor} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return a, b
}

func TestProgramFailures(t *testing.T) {
	t.Parallel()
	a, b := sides(t, "1\n", "2\n")
	for _, c := range []struct {
		command string
		kind    error
		detail  string
	}{
		{"no-such-program {runs}", ErrMissing, "no-such-program: executable file not found in $PATH"},
		{"/nowhere/program", ErrMissing, "/nowhere/program: no such file or directory"},
		{"sh -c 'echo 1; echo oh no >&2; echo more >&2; exit 7' {runs}", ErrCrash, "exit status 7 after 1 output: oh no"},
		{`sh -c 'printf "Traceback (most recent call last):\n  File x\nValueError: no\n" >&2; exit 1'`, ErrCrash, "exit status 1 after 0 outputs: ValueError: no"},
		{"sh -c 'kill -9 $$'", ErrCrash, "signal: killed after 0 outputs"},
		{"sh -c 'sleep 100' {runs}", ErrHang, "more than 300ms, after 0 outputs"},
		{"sh -c 'sleep 100 & wait'", ErrHang, "more than 300ms"},
		{"sh -c 'echo 1; exec >&-; sleep 100' {runs}", ErrHang, "after 1 output"},
		{"yes {runs}", ErrFlood, "more than the 50 requested lines"},
		{"sh -c 'yes'", ErrFlood, "more than 1048576 bytes"},
		{"sh -c 'yes | tr -d \"\\n\"' {runs}", ErrFlood, "a line of more than 1048576 bytes"},
		{"echo one {runs}", ErrFew, "1 of the 50"},
		{"sh -c 'echo 1; echo; echo 2' {runs}", ErrFew, "line 2 is empty"},
		{"true {runs}", ErrSilent, "no line at all"},
		{"true", ErrSilent, "no output at all"},
		{"sh -c 'echo 1 >&2'", ErrSilent, "no output at all"},
		{`printf '\377\376 \001'`, ErrGarbage, "output 1 is not UTF-8"},
		{`printf 'a\033[1mb'`, ErrGarbage, "output 1 contains the control character 0x1b"},
	} {
		p := Program{Command: c.command, Input: a, Neighbor: b, Timeout: 300 * time.Millisecond}
		if !errors.Is(c.kind, ErrHang) {
			p.Timeout = 20 * time.Second
		}
		begun := time.Now()
		err := p.Run(context.Background(), Neighbor, 50, func([]byte) error { return nil })
		var wrong *ProgramError
		if !errors.Is(err, c.kind) || !errors.As(err, &wrong) || wrong.Side != Neighbor ||
			!strings.Contains(err.Error(), c.detail) {
			t.Errorf("%s: %v", c.command, err)
		}
		if time.Since(begun) > 10*time.Second {
			t.Errorf("%s took %v", c.command, time.Since(begun))
		}
	}
}

// What can be read only once is no dataset; it is refused, and nobody waits for it.
func TestPipesAreRefused(t *testing.T) {
	a, _ := sides(t, "1", "2")
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, "/dev/null"} {
		p := Program{Command: "cat", Input: a, Neighbor: name}
		for _, err := range []error{
			p.Check(),
			p.Run(context.Background(), Neighbor, 1, func([]byte) error { return nil }),
		} {
			var wrong *ProgramError
			if !errors.As(err, &wrong) || !errors.Is(err, ErrInput) || wrong.Side != Neighbor ||
				wrong.Hint != "write the pipe's contents to a file: a pipe can be read only once" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestRemarks(t *testing.T) {
	a, b := sides(t, "1", "2")
	c := filepath.Join(filepath.Dir(b), "c.txt")
	if err := os.WriteFile(c, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		p    Program
		want []string
	}{
		{Program{Command: "cat {input} {runs}", Input: a, Neighbor: b}, nil},
		{Program{Command: "awk '{ print $1; running++ }'", Input: a, Neighbor: b}, nil},
		{Program{Command: "cat", Input: a, Neighbor: c}, []string{"equal contents"}},
		{Program{Command: "cat {runs", Input: a, Neighbor: b}, []string{"The command has {runs in it"}},
		{Program{Command: "cat { Input }", Input: a, Neighbor: b}, []string{"The command has { Input in it"}},
		{Program{Command: "sh -c 'cat {input}'", Input: a, Neighbor: b}, []string{`sh -c 'wc -l < "$0"' {input}`}},
		{Program{Command: "sh -c 'cat {input}'", Input: c, Neighbor: b}, []string{"equal"}[:0]},
		{Program{Command: "'", Input: a, Neighbor: b}, nil},
	} {
		got := x.p.Remarks()
		if len(got) != len(x.want) {
			t.Errorf("%s: %q", x.p.Command, got)
			continue
		}
		for i, w := range x.want {
			if !strings.Contains(got[i], w) {
				t.Errorf("%s: %q", x.p.Command, got)
			}
		}
	}
	long := strings.Repeat("x", 1<<16)
	a, b = sides(t, long, long+"y")
	if same, err := sameContents(a, b); same || err != nil {
		t.Error(same, err)
	}
	if same, err := sameContents(a, a); !same || err != nil {
		t.Error(same, err)
	}
}

func TestProgramCheck(t *testing.T) {
	a, b := sides(t, "1", "2")
	for _, c := range []struct {
		p    Program
		want error
	}{
		{Program{Command: "cat", Input: a, Neighbor: b}, nil},
		{Program{Command: "'{input}'", Input: a, Neighbor: b}, nil},
		{Program{Command: "", Input: a, Neighbor: b}, ErrCommand},
		{Program{Command: "''", Input: a, Neighbor: b}, ErrCommand},
		{Program{Command: "cat 'x", Input: a, Neighbor: b}, ErrCommand},
		{Program{Command: "cat \\", Input: a, Neighbor: b}, ErrCommand},
		{Program{Command: "cat\x00", Input: a, Neighbor: b}, ErrCommand},
		{Program{Command: "cat", Input: a, Neighbor: b, Timeout: -1}, ErrCommand},
		{Program{Command: "no-such-program", Input: a, Neighbor: b}, ErrMissing},
		{Program{Command: a, Input: a, Neighbor: b}, ErrMissing},
		{Program{Command: "cat", Input: a + "x", Neighbor: b}, ErrInput},
		{Program{Command: "cat", Input: a, Neighbor: filepath.Dir(b)}, ErrInput},
		{Program{Command: "cat", Input: a}, ErrInput},
	} {
		if err := c.p.Check(); !errors.Is(err, c.want) {
			t.Errorf("%q: %v", c.p.Command, err)
		}
	}
}

// The file of a side comes in the place of {input}, or else on standard input; nothing is expanded.
func TestProgramRuns(t *testing.T) {
	a, b := sides(t, "1 2\n", "3\n")
	for _, c := range []struct {
		command string
		side    Side
		n       int
		want    []string
	}{
		{"cat", Data, 2, []string{"1 2", "1 2"}},
		{"cat {input}", Neighbor, 1, []string{"3"}},
		{"sh -c 'cat; cat \"$0\"' {input}", Data, 1, []string{"1 2"}},
		{"sh -c 'yes \"$(cat $0)\" | head -n $1' {input} {runs}", Neighbor, 3, []string{"3", "3", "3"}},
		{`printf '%s|' "$HOME" a\ b '' *`, Data, 1, []string{"$HOME|a b||*|"}},
		{"printf 'a\nb\r\n\n' {runs}", Data, 2, []string{"a", "b"}},
	} {
		var got []string
		err := Program{Command: c.command, Input: a, Neighbor: b}.Run(context.Background(), c.side, c.n,
			func(o []byte) error {
				got = append(got, string(o))
				return nil
			})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", c.command, got, err)
		}
	}
}

func TestProgramStops(t *testing.T) {
	a, b := sides(t, "1", "2")
	enough := errors.New("enough")
	err := Program{Command: "yes {runs}", Input: a, Neighbor: b}.Run(context.Background(), Data, 1<<30,
		func([]byte) error { return enough })
	if !errors.Is(err, enough) {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	err = Program{Command: "sleep 100", Input: a, Neighbor: b}.Run(ctx, Data, 1, func([]byte) error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// What a shell would quote is read back.
func TestWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.StringMatching(`[a-z '"\\$]*`), 1, 5).Draw(t, "words")
		list[0] += "x"
		quoted := make([]string, len(list))
		for i, w := range list {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
			if rapid.Bool().Draw(t, "double") {
				quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(w) + `"`
			}
		}
		got, err := words(strings.Join(quoted, " "))
		if err != nil || !slices.Equal(got, list) {
			t.Fatalf("%q of %q, %v", got, quoted, err)
		}
	})
}

func FuzzWords(f *testing.F) {
	f.Add(`python3 'a b' "c\"d" e\ f`)
	f.Fuzz(func(t *testing.T, line string) {
		list, err := words(line)
		if err != nil && !errors.Is(err, ErrCommand) || err == nil && len(list) == 0 {
			t.Fatal(fmt.Sprint(list, err))
		}
	})
}
