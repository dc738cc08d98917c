package strategies

import (
	"os"
	"path/filepath"
	"strings"
)

// namesFile reports whether the policy of a home names an existing file, such as the source of a table. A synthetic table
// must not replace the real one, and real rows must not be called synthetic. Since any mention counts, it needs no
// knowledge of policies. Other links to the same file count too.
func namesFile(home, file string) bool {
	found, err := os.Stat(file)
	if err != nil {
		return false
	}
	policy, err := os.ReadFile(filepath.Join(home, "policy.yaml"))
	if err != nil {
		return false
	}
	words := strings.FieldsFunc(string(policy), func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'{}[],", r) })
	spaced := strings.FieldsFunc(string(policy), func(r rune) bool { return strings.ContainsRune("\r\n\"'{},:", r) })
	for _, word := range append(words, spaced...) {
		path := strings.TrimSpace(word)
		if strings.Trim(path, "*") == "" { // nothing, or SELECT * in a comment
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(home, path)
		}
		matches, err := filepath.Glob(path) // sources may be patterns
		if err != nil {
			matches = nil
		}
		for _, name := range append(matches, path) {
			if named, err := os.Stat(name); err == nil && !named.IsDir() && os.SameFile(named, found) {
				return true
			}
		}
	}
	return false
}

// mayBeReal reports whether a policy names a file: that of the home, or one in the folder of the file.
func mayBeReal(home, file string) bool {
	if path, err := filepath.EvalSymlinks(file); err == nil && namesFile(filepath.Dir(path), file) {
		return true
	}
	return namesFile(home, file) || namesFile(filepath.Dir(file), file)
}
