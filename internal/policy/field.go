package policy

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"dither/internal/exact"
	"dither/internal/nearest"
	"dither/privacy"
)

// reader collects errors while it reads the YAML tree of a policy. It uses YAML for structure only. Each field
// gives meaning to the text of its scalar. YAML's own rules for numbers, booleans, dates and null do not apply.
type reader struct {
	errs    Errors
	from    map[*Column]field // column → its values_from field
	tidied  map[*Column]field // column with trim or case → that field
	pending []pending
	spanned int // the number of names that patterns list
	allowed Budget
	most    privacy.Loss // the largest price of a question
}

// field is a value in the file with its key. If the file lacks the field, node is nil, and the methods that read it
// return zero values without recording an error.
type field struct {
	r    *reader
	key  *yaml.Node // nil for the whole file and for items of a list
	node *yaml.Node
	path string
}

func (f field) present() bool { return f.node != nil }

// fail records an error at the field's value.
func (f field) fail(hint, format string, args ...any) {
	f.r.report(f.node, f.path, hint, format, args...)
}

// failKey records an error at the field's key. Its mapping may also be at fault, because it lacks some key.
func (f field) failKey(hint, format string, args ...any) {
	at := f.key
	if at == nil {
		at = f.node
	}
	f.r.report(at, f.path, hint, format, args...)
}

func (r *reader) report(at *yaml.Node, path, hint, format string, args ...any) {
	e := &Error{Field: path, Message: fmt.Sprintf(format, args...), Hint: hint}
	if at != nil {
		e.Line, e.Column = at.Line, at.Column
	}
	r.errs = append(r.errs, e)
}

// entries returns the entries of a mapping in the file's order. It records an error for a key that is not a scalar,
// is empty, or occurs twice.
func (f field) entries() []field {
	if !f.present() {
		return nil
	}
	if f.node.Kind != yaml.MappingNode {
		f.fail("", "expected keys and values, found %s", kindOf(f.node))
		return nil
	}
	out := make([]field, 0, len(f.node.Content)/2)
	first := make(map[string]int, len(f.node.Content)/2)
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		key, value := f.node.Content[i], f.node.Content[i+1]
		child := field{f.r, key, value, f.path}
		switch {
		case key.Kind != yaml.ScalarNode:
			child.failKey("", "a key must be a word, found %s", kindOf(key))
			continue
		case isBlank(key):
			child.failKey("", "a key is missing before the colon")
			continue
		}
		child.path = join(f.path, key.Value)
		if line, again := first[key.Value]; again {
			child.failKey("", "duplicate key, first on line %d", line)
			continue
		}
		first[key.Value] = key.Line
		out = append(out, child)
	}
	return out
}

// join returns the path of a key. The key is quoted unless it is a short name.
func join(path, key string) string {
	quoted := func(r rune) bool { return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	if key == "" || utf8.RuneCountInString(key) > 63 || strings.ContainsFunc(key, quoted) {
		key = quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// keys reads a mapping with the given keys. For any other key it records an error, with the nearest known key as a
// hint. The result has a field for every known key, even if the file lacks it. ok reports whether f is a mapping.
func (f field) keys(known ...string) (_ map[string]field, ok bool) {
	fields := make(map[string]field, len(known))
	for _, k := range known {
		fields[k] = field{r: f.r, path: join(f.path, k)}
	}
	for _, e := range f.entries() {
		if slices.Contains(known, e.key.Value) {
			fields[e.key.Value] = e
			continue
		}
		hint := "known here: " + strings.Join(known, ", ")
		if near := nearest.Name(e.key.Value, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		e.failKey(hint, "unknown key")
	}
	return fields, f.present() && f.node.Kind == yaml.MappingNode
}

// child returns the entry of a mapping with the given key, without checking the mapping.
func (f field) child(key string) field {
	for i := 0; f.present() && f.node.Kind == yaml.MappingNode && i+1 < len(f.node.Content); i += 2 {
		if f.node.Content[i].Value == key {
			return field{f.r, f.node.Content[i], f.node.Content[i+1], join(f.path, key)}
		}
	}
	return field{r: f.r, path: join(f.path, key)}
}

// text returns the text of a scalar. Quotes make no difference. ok is false if the value is missing or not a
// scalar.
func (f field) text() (string, bool) {
	switch {
	case !f.present():
		return "", false
	case f.node.Kind != yaml.ScalarNode:
		f.fail("", "expected one value, found %s", kindOf(f.node))
		return "", false
	case isBlank(f.node):
		f.fail(`an empty text is written ""`, "a value is missing")
		return "", false
	}
	return f.node.Value, true
}

// boolean reads the plain words true and false. It accepts no other word, such as yes or on. If the field is
// missing or invalid, it returns otherwise.
func (f field) boolean(otherwise bool) bool {
	s, ok := f.text()
	switch {
	case !ok:
		return otherwise
	case isPlain(f.node) && (s == "true" || s == "false"):
		return s == "true"
	}
	f.fail("", "expected true or false, found %s", quote(s))
	return otherwise
}

// count reads a whole number from 1 to the limit most. Otherwise it records an error, and ok is false.
func (f field) count(most int64) (int64, bool) {
	s, ok := f.text()
	if !ok {
		return 0, false
	}
	r, err := exact.ParseDecimal(s)
	switch {
	case err != nil:
		f.fail("", "expected a whole number, found %s: %v", quote(s), err)
		return 0, false
	case !r.IsInt():
		f.fail("", "expected a whole number, found %s", quote(s))
		return 0, false
	case r.Sign() <= 0, r.Cmp(new(big.Rat).SetInt64(most)) > 0:
		f.fail("", "must be between 1 and %d, found %s", most, quote(s))
		return 0, false
	}
	return r.Num().Int64(), true
}

// list returns the items of a list.
func (f field) list() ([]field, bool) {
	if !f.present() {
		return nil, false
	}
	if f.node.Kind != yaml.SequenceNode {
		f.fail("lists are written [a, b]", "expected a list, found %s", kindOf(f.node))
		return nil, false
	}
	items := make([]field, len(f.node.Content))
	for i, n := range f.node.Content {
		items[i] = field{r: f.r, node: n, path: f.path}
	}
	return items, true
}

// isPlain reports whether n is a scalar without quotes or block markers. isBlank reports whether it is plain and
// empty.
func isPlain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 }
func isBlank(n *yaml.Node) bool { return isPlain(n) && n.Value == "" }

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys and values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isBlank(n):
		return "nothing"
	}
	return quote(n.Value)
}
