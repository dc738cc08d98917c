package dither_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// longTests are the directory and the name of each test of the packages that have long forms, from their syntax.
func longTests(t *testing.T) map[string]bool {
	t.Helper()
	found, long := map[string]bool{}, map[string]bool{}
	all := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		dir := "./" + filepath.Dir(path)
		if dir == "./." {
			dir = "."
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		long[dir] = long[dir] || strings.Contains(string(text), "DITHER_"+"LONG") // whose name this file would match
		file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && isTest(f) {
				all[dir] = append(all[dir], f.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, names := range all {
		for _, name := range names {
			if long[dir] {
				found[dir+" "+name] = true
			}
		}
	}
	return found
}

func isTest(f *ast.FuncDecl) bool {
	if f.Recv != nil {
		return false
	}
	if params := f.Type.Params.List; len(params) == 1 {
		star, ok := params[0].Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		of, ok := star.X.(*ast.SelectorExpr)
		return ok && (of.Sel.Name == "T" && strings.HasPrefix(f.Name.Name, "Test") || of.Sel.Name == "F" && strings.HasPrefix(f.Name.Name, "Fuzz"))
	}
	return len(f.Type.Params.List) == 0 && strings.HasPrefix(f.Name.Name, "Example")
}

func share(t *testing.T, i, of int) []string {
	t.Helper()
	out, err := exec.Command(".ci/long", strconv.Itoa(i)+"/"+strconv.Itoa(of), "list").CombinedOutput()
	if err != nil {
		t.Fatalf("share %d of %d: %v: %s", i, of, err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// TestSharesAreTheWhole: however many shares the long forms are divided into, each of their tests is in exactly one, and nothing else is.
func TestSharesAreTheWhole(t *testing.T) {
	whole := slices.Sorted(maps.Keys(longTests(t)))
	if len(whole) < 1000 {
		t.Fatalf("only %d tests are in packages with long forms", len(whole))
	}
	for _, of := range []int{1, 2, 6, 7} {
		var got []string
		for i := range of {
			got = append(got, share(t, i+1, of)...)
		}
		slices.Sort(got)
		if !slices.Equal(got, whole) {
			for _, name := range whole {
				if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s != name })); n != 1 {
					t.Errorf("of %d shares, %d have %s", of, n, name)
				}
			}
			t.Errorf("%d shares have %d tests, where there are %d", of, len(got), len(whole))
		}
	}
	for _, bad := range []string{"0/6", "7/6", "6", "1/0", "a/b", "-1/6", "1/6 2/6"} {
		if out, err := exec.Command(".ci/long", bad, "list").CombinedOutput(); err == nil || !strings.Contains(string(out), "I/N") {
			t.Errorf("share %s: %v: %s", bad, err, out)
		}
	}
}

// TestSharesWithoutTheLongest: a limit leaves out the tests of .ci/times that take longer, and no others.
func TestSharesWithoutTheLongest(t *testing.T) {
	all := share(t, 1, 1)
	t.Setenv("MOST", "100")
	var less []string
	for i := range 3 {
		less = append(less, share(t, i+1, 3)...)
	}
	out := map[string]bool{}
	for _, name := range all {
		if !slices.Contains(less, name) {
			out[strings.Fields(name)[1]] = true
		}
	}
	text, err := os.ReadFile(".ci/times")
	if err != nil {
		t.Fatal(err)
	}
	longest := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); fields[0] != "#" {
			if s, err := strconv.ParseFloat(fields[0], 64); err == nil && s > 100 {
				longest[fields[1]] = true
			}
		}
	}
	if !maps.Equal(out, longest) || len(longest) == 0 {
		t.Errorf("MOST=100 leaves out %v, and not %v", slices.Sorted(maps.Keys(out)), slices.Sorted(maps.Keys(longest)))
	}
}

// TestSharesAreAlike: by the times in .ci/times, of tests that exist, each of six shares takes about as long as another.
func TestSharesAreAlike(t *testing.T) {
	text, err := os.ReadFile(".ci/times")
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{}
	for name := range longTests(t) {
		exists[strings.Fields(name)[1]] = true
	}
	seconds, total, longest := map[string]float64{}, 0.0, 0.0
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		s, err := strconv.ParseFloat(fields[0], 64)
		if err != nil || len(fields) != 2 || !exists[fields[1]] || seconds[fields[1]] > 0 {
			t.Errorf("%q: not the seconds of a test that exists, once", line)
			continue
		}
		seconds[fields[1]] = s
		total, longest = total+s, max(longest, s)
	}
	for i := range 6 {
		load, once := 0.0, map[string]bool{}
		for _, name := range share(t, i+1, 6) {
			if name = strings.Fields(name)[1]; !once[name] {
				load, once[name] = load+seconds[name], true
			}
		}
		if load > max(1.2*total/6, longest) {
			t.Errorf("share %d of 6 takes %g of %g seconds", i+1, load, total)
		}
	}
}
