package dither_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mapRow is a row of the map of the house: a package, and its contents.
var mapRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.+) \\|$")

// CONTRIBUTING's map has one line for each package of the house, with its contents, and names no other package. A package
// imports packages above its line alone.
func TestMap(t *testing.T) {
	_, rest, _ := strings.Cut(readPage(t, "CONTRIBUTING.md"), "\n## The map of the house\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	mapped := map[string]bool{}
	for _, row := range mapRow.FindAllStringSubmatch(section, -1) {
		name := row[1]
		if mapped[name] {
			t.Errorf("the map of the house has %s twice", name)
		}
		mapped[name] = true
		if _, ok := allowed[name]; !ok {
			t.Errorf("the map of the house has %s, which is no package", name)
		}
		for _, imported := range allowed[name] {
			if !mapped[imported] {
				t.Errorf("in the map of the house %s is above %s, which it imports", name, imported)
			}
		}
	}
	for name := range allowed {
		if !mapped[name] {
			t.Errorf("%s is not in the map of the house (CONTRIBUTING.md)", name)
		}
	}
}

var (
	testName   = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z]\w*$`)
	memberName = regexp.MustCompile(`^([a-z]+)\.([A-Z]\w*)`)
)

// Every test, exported name and folder that the guides for contributors name exists.
func TestGuidesNameWhatExists(t *testing.T) {
	all, sources := tracked(t), map[string]string{} // the text of each folder's Go files
	tests := ""
	for _, file := range all {
		if !strings.HasSuffix(file, ".go") || strings.HasPrefix(file, "testdata/") {
			continue
		}
		if strings.HasSuffix(file, "_test.go") {
			tests += readPage(t, file)
		} else {
			sources[path.Dir(file)] += readPage(t, file)
		}
	}
	declared := func(folder, name string) bool {
		return regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const |\t)` + name + `\b`).MatchString(sources[folder])
	}
	exists := func(name string) bool {
		if name = strings.TrimSuffix(name, "/…"); testName.MatchString(name) {
			return strings.Contains(tests, "\nfunc "+name+"(")
		}
		if member := memberName.FindStringSubmatch(name); member != nil {
			return slices.ContainsFunc(all, func(file string) bool {
				folder := path.Dir(file)
				return path.Base(folder) == member[1] && declared(folder, member[2])
			})
		}
		if strings.HasPrefix(name, "testdata/") { // of any package
			return true
		}
		if first, _, nested := strings.Cut(name, "/"); nested && !strings.ContainsAny(name, " (|") && strings.ToUpper(name) != name {
			if info, err := os.Stat(first); err != nil || !info.IsDir() || strings.Contains(name, "NAME") {
				return true
			}
			found, err := filepath.Glob(filepath.FromSlash(name))
			return err == nil && len(found) > 0
		}
		return true
	}
	checked := 0
	for _, page := range []string{"CONTRIBUTING.md", "docs/design/engines.md"} {
		for _, line := range prose(readPage(t, page)) {
			for _, span := range codeSpan.FindAllString(line, -1) {
				checked++
				if name := strings.Trim(span, "`"); !exists(name) {
					t.Errorf("%s names %s, which does not exist", page, name)
				}
			}
		}
	}
	if checked < 150 {
		t.Errorf("only %d names were read", checked)
	}
}
