package dither_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// trustedPage lists what privacy rests on, in a table that this test writes: DITHER_UPDATE_TRUSTED=1 go test -run
// TestTrustedPath .
const trustedPage = "docs/design/trusted.md"

// The trusted path is the kernel and whatever it imports. It does not grow unnoticed: a package more or less, or a
// tenth more lines, is a change to the page.
func TestTrustedPath(t *testing.T) {
	text, err := os.ReadFile(trustedPage)
	if err != nil {
		t.Fatal(err)
	}
	const begins, ends = "<!-- table: ", "<!-- end of the table -->\n"
	head, rest, ok := strings.Cut(string(text), begins)
	note, rest, ok2 := strings.Cut(rest, "-->\n")
	table, tail, ok3 := strings.Cut(rest, ends)
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%s has no table between %q and %q", trustedPage, begins, ends)
	}
	now := trusted(t)
	if os.Getenv("DITHER_UPDATE_TRUSTED") != "" {
		var b strings.Builder
		fmt.Fprintf(&b, "\n| what | lines |\n|---|---:|\n")
		for _, row := range now {
			fmt.Fprintf(&b, "| `%s` | %d |\n", row.name, row.lines)
		}
		all := head + begins + note + "-->\n" + b.String() + "\n" + ends + tail
		if err := os.WriteFile(trustedPage, []byte(all), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	told := map[string]int{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(cells[2]))
		if err != nil {
			t.Fatal(err)
		}
		told[strings.Trim(cells[1], " `")] = n
	}
	const how = "; if it has to be, write what it promises into " + trustedPage + ", and run DITHER_UPDATE_TRUSTED=1 go test -run TestTrustedPath ."
	for _, row := range now {
		n, listed := told[row.name]
		switch {
		case !listed:
			t.Errorf("%s (%d lines) is on the trusted path, and not listed%s", row.name, row.lines, how)
		case row.lines > n+n/10+20:
			t.Errorf("%s grew from %d to %d lines%s", row.name, n, row.lines, how)
		}
		delete(told, row.name)
	}
	for name := range told {
		t.Errorf("%s is listed, and not on the trusted path%s", name, how)
	}
}

type trustedRow struct {
	name  string
	lines int
}

// trusted are the kernel, first, and what it imports of the project, with line counts.
func trusted(t *testing.T) (rows []trustedRow) {
	t.Helper()
	const kernel = "dither/internal/release"
	for _, p := range list(t, "-deps", kernel) {
		name, ours := strings.CutPrefix(p.ImportPath, "dither/")
		if !ours {
			continue
		}
		files, err := filepath.Glob(filepath.Join(name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		row := trustedRow{name: name}
		for _, f := range files {
			if !strings.HasSuffix(f, "_test.go") {
				row.lines += linesOf(t, f)
			}
		}
		if p.ImportPath == kernel {
			rows = slices.Insert(rows, 0, row)
		} else {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows[1:], func(a, b trustedRow) int { return strings.Compare(a.name, b.name) })
	return rows
}

func linesOf(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}
