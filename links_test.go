package dither_test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// tracked lists the files of the repository that git knows, with slashes.
func tracked(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "ls-files").Output()
	if err != nil {
		t.Skip("not a git repository")
	}
	return strings.Fields(string(out))
}

// Every relative link of a page leads to a file that exists, and every anchor to a heading of that file.
func TestLinks(t *testing.T) {
	links, anchors := 0, 0
	for _, page := range tracked(t) {
		if !strings.HasSuffix(page, ".md") {
			continue
		}
		for _, link := range linksOf(readPage(t, page)) {
			target, anchor, _ := strings.Cut(link, "#")
			file := page
			if target != "" {
				file = path.Join(path.Dir(page), target)
			}
			links++
			if _, err := os.Stat(filepath.FromSlash(file)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, link)
				continue
			}
			if anchor == "" {
				continue
			}
			anchors++
			if !anchorsOf(readPage(t, file))[anchor] {
				t.Errorf("%s: the link %s names no heading of %s", page, link, file)
			}
		}
	}
	if links < 60 || anchors < 10 {
		t.Errorf("only %d links and %d anchors were read", links, anchors)
	}
}

// mention is the name of a page in code, help, messages, tests and build files. A design note may be named by its number.
var mention = regexp.MustCompile(`\bdocs/[A-Za-z0-9_/-]+(?:\.(?:md|pml))?`)

// planned are pages that a design note announces, and that are still to be written.
var planned = map[string]bool{"docs/design/trusted.md": true}

// Every page that a file names by its path from the root exists.
func TestMentionedPages(t *testing.T) {
	mentions := 0
	for _, file := range tracked(t) {
		if file == "links_test.go" || strings.Contains(file, "testdata/fuzz/") || strings.Contains(file, "/homes/") {
			continue
		}
		for _, name := range mention.FindAllString(readPage(t, file), -1) {
			mentions++
			found, err := filepath.Glob(filepath.FromSlash(strings.TrimSuffix(name, "/")) + "*")
			if err != nil || len(found) == 0 && !planned[name] {
				t.Errorf("%s names %s, which does not exist", file, name)
			}
		}
	}
	if mentions < 30 {
		t.Errorf("only %d mentions were read", mentions)
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

var (
	inlineLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	elsewhere  = regexp.MustCompile(`^[a-z]+:`)
	codeSpan   = regexp.MustCompile("`[^`]*`")
)

// linksOf returns the relative links of a page, outside of code.
func linksOf(page string) []string {
	var links []string
	for _, line := range prose(page) {
		for _, m := range inlineLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
			if !elsewhere.MatchString(m[1]) {
				links = append(links, m[1])
			}
		}
	}
	return links
}

// anchorsOf returns the anchors that GitHub gives the headings of a page.
func anchorsOf(page string) map[string]bool {
	anchors := map[string]bool{}
	for _, line := range prose(page) {
		heading := strings.TrimLeft(line, "#")
		if heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		slug := slugOf(strings.TrimSpace(heading))
		for n, base := 1, slug; anchors[slug]; n++ {
			slug = fmt.Sprintf("%s-%d", base, n)
		}
		anchors[slug] = true
	}
	return anchors
}

func slugOf(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// prose returns the lines of a page that are in no fenced or indented block of code.
func prose(page string) []string {
	var lines []string
	fenced := false
	for _, line := range strings.Split(page, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimLeft(line, " "), "```"):
			fenced = !fenced
		case !fenced && !strings.HasPrefix(line, "    "):
			lines = append(lines, line)
		}
	}
	return lines
}

func TestAnchors(t *testing.T) {
	for heading, want := range map[string]string{
		"When answers leave": "when-answers-leave", "A finite mechanism: `dither channel`": "a-finite-mechanism-dither-channel",
		"δ, and who is next to whom": "δ-and-who-is-next-to-whom",
	} {
		if got := slugOf(heading); got != want {
			t.Errorf("%s: %s, want %s", heading, got, want)
		}
	}
}

// The tutorial for programmers shows the program that examples/ask is.
func TestTutorialProgram(t *testing.T) {
	program := readPage(t, "examples/ask/main.go")
	if program == "" || !strings.Contains(readPage(t, "docs/tutorials/programmer.md"), "```go\n"+program+"```") {
		t.Error("docs/tutorials/programmer.md does not show examples/ask/main.go as it is")
	}
}
