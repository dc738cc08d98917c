package engine_test

import (
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dither/internal/engine/enginetest"
)

// plantedGo is put into each package with errors: an error is there where the environment names it. None of this is in any
// build but the two that the test makes.
const plantedGo = `package %s

import (
	"math/big"
	"os"
)

func planted[T any](name string, right, wrong T) T {
	if os.Getenv("DITHER_PLANTED") == name {
		return wrong
	}
	return right
}

func plantedMore(n *big.Int) *big.Int { return new(big.Int).Add(n, big.NewInt(1)) }
func plantedLess(n *big.Int) *big.Int { return new(big.Int).Sub(n, big.NewInt(1)) }

var _, _ = plantedMore, plantedLess
`

// name is what an error is called: its file, the place, and the error.
func (p place) name(i int) string {
	name := strings.Join(strings.Fields(fmt.Sprintf("%s: %s: %s → %s", p.file, p.text, p.right, p.wrong[i])), " ")
	if p.refused {
		return name + enginetest.Refused
	}
	return name
}

// plant gives a file's text with the errors of all its places.
func plant(text string, of []place) (string, error) {
	type edit struct {
		from, to int
		with     string
	}
	var edits []edit
	for _, p := range of {
		if n := strings.Count(text, p.text); n != 1 {
			return "", fmt.Errorf("%s: %q is there %d times", p.file, p.text, n)
		}
		if n := strings.Count(p.text, p.right); n != 1 {
			return "", fmt.Errorf("%s: %q is in %q %d times", p.file, p.right, p.text, n)
		}
		if len(p.wrong) == 0 || p.why != "" {
			if p.why == "" {
				return "", fmt.Errorf("%s: %q: no error, and no reason", p.file, p.text)
			}
			continue
		}
		from := strings.Index(text, p.text) + strings.Index(p.text, p.right)
		to := from + len(p.right)
		with, quote := p.right, ""
		if at := stringAt(text, from, to); at != nil { // inside a text: the whole is planted
			quote = text[at[0]:from]
			with = text[at[0]:at[1]]
			for i, wrong := range p.wrong {
				with = fmt.Sprintf("planted(%q, %s, %s)", p.name(i), with, quote+wrong+text[to:at[1]])
			}
			from, to = at[0], at[1]
		} else {
			for i, wrong := range p.wrong {
				with = fmt.Sprintf("planted(%q, %s, %s)", p.name(i), with, wrong)
			}
		}
		edits = append(edits, edit{from, to, with})
	}
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	for i, e := range edits {
		if i > 0 && e.to > edits[i-1].from {
			return "", fmt.Errorf("two places overlap at %q", text[e.from:e.to])
		}
		text = text[:e.from] + e.with + text[e.to:]
	}
	return text, nil
}

// stringAt is where the string literal stands that is around a piece of a file; nil where there is none.
func stringAt(text string, from, to int) []int {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), nil, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return nil
		}
		at := file.Offset(pos)
		if tok == token.STRING && at < from && to < at+len(lit) {
			return []int{at, at + len(lit)}
		}
	}
}

// byFile are the places of each file.
func byFile() map[string][]place {
	out := map[string][]place{}
	for _, p := range places {
		out[p.file] = append(out[p.file], p)
	}
	return out
}

// The table of errors is that of the code: each place is found, and each line of an engine that writes a bound into a
// statement is among them.
func TestPlacesAreThere(t *testing.T) {
	root := filepath.Join("..", "..")
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for file, of := range byFile() {
		if _, err := plant(read(file), of); err != nil {
			t.Error(err)
		}
	}
	for _, of := range scanned {
		files, err := filepath.Glob(filepath.Join(root, of.files))
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, path := range files {
			file, err := filepath.Rel(root, path)
			if err != nil || strings.HasSuffix(file, "_test.go") {
				continue
			}
			seen += unplanted(t, file, read(file), of.bounding)
		}
		if seen < of.least {
			t.Errorf("%d lines of %s bound anything", seen, of.files)
		}
	}
}

// unplanted reports the lines of a file that bound something, of which no error is planted, and counts all that do.
func unplanted(t *testing.T, file, text string, bounding *regexp.Regexp) (seen int) {
	t.Helper()
	var of []string
	for _, p := range byFile()[file] {
		of = append(of, strings.Split(strings.Trim(p.text, "\n"), "\n")...)
	}
	for i, line := range strings.Split(text, "\n") {
		if !bounding.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "//") {
			continue
		}
		seen++
		covered := slices.ContainsFunc(of, func(part string) bool { return strings.Contains(line, strings.TrimSpace(part)) })
		if !covered && !slices.ContainsFunc(elsewhere, func(e string) bool { return strings.Contains(file+": "+strings.TrimSpace(line), e) }) {
			t.Errorf("%s:%d: a bound is applied here, of which no error is planted: %s", file, i+1, strings.TrimSpace(line))
		}
	}
	return seen
}

// Each error that is planted is caught by the replay audit of an engine. It is a subtest, so that -run can choose some, as
// in -run TestPlantedErrorsAreCaught/bind.first. An error's subtest is parallel, so that it ends after the audits.
func TestPlantedErrorsAreCaught(t *testing.T) {
	if os.Getenv("DITHER_LONG") == "" {
		return // it takes some minutes; TestPlacesAreThere keeps the table true
	}
	chosen, missed := map[string][]string{}, map[string]bool{}
	for _, p := range places {
		for i := range p.wrong {
			name := p.name(i)
			t.Run(strings.ReplaceAll(name, "/", "."), func(t *testing.T) {
				chosen[p.on()] = append(chosen[p.on()], name)
				t.Parallel()
				if missed[name] {
					t.Error("not caught")
				}
			})
		}
	}
	dir := t.TempDir()
	overlay := plantAll(t, dir)
	var left []string // of what both engines share, which the first leaves for the second
	for _, engine := range []string{onDuckDB, onPostgres} {
		names := append(left, chosen[engine]...)
		left = nil
		for _, name := range uncaught(t, engine, dir, overlay, names) {
			if engine == onDuckDB && !strings.HasPrefix(name, inDuckDB) {
				left = append(left, name)
				continue
			}
			missed[name] = true
		}
	}
}

// plantAll writes the files with all errors into a directory, and returns the path of the overlay that go test reads.
func plantAll(t *testing.T, dir string) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string]string{}
	put := func(file, text string) {
		made := filepath.Join(dir, fmt.Sprintf("%d.go", len(overlay)))
		if err := os.WriteFile(made, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(root, file)] = made
	}
	for file, of := range byFile() {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		wrong, err := plant(string(text), of)
		if err != nil {
			t.Fatal(err)
		}
		put(file, wrong)
		helper := filepath.Join(filepath.Dir(file), "zz_planted.go")
		if overlay[filepath.Join(root, helper)] == "" {
			put(helper, fmt.Sprintf(plantedGo, filepath.Base(filepath.Dir(file))))
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(out, list, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// uncaught builds an engine's audit with the planted errors, runs it, and returns the names of the errors that it does
// not catch.
func uncaught(t *testing.T, engine, dir, overlay string, names []string) []string {
	t.Helper()
	if len(names) == 0 {
		return nil
	}
	audit, file := filepath.Join(dir, engine), filepath.Join(dir, engine+".list")
	build := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", audit, "./"+engine)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(file, []byte(strings.Join(names, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(audit, "-test.run", "^TestReplayAudit$", "-test.v", "-test.timeout", "60m")
	command.Dir = engine
	command.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "DITHER_LONG=")
	}), enginetest.ListVariable+"="+file)
	out, err := command.CombinedOutput()
	t.Logf("%s: %d errors\n%s", engine, len(names), out)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(rest), func(c rune) bool { return c == '\n' })
}

// on is whose audit must catch it. What both engines share is asked of DuckDB first, which answers faster.
func (p place) on() string {
	if p.live || strings.HasPrefix(p.file, inPostgres) {
		return onPostgres
	}
	return onDuckDB
}
