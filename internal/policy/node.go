package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"dither/internal/exact"
)

// Limits on the text of a policy.
const (
	MaxBytes = 1 << 20 // of the file
	maxDepth = 12      // of nesting; a well-formed policy has six
)

// reader collects what is wrong while a tree is read. YAML is used for its structure alone: what a scalar means is decided
// from its text by the field that holds it, never by YAML's rules for numbers, booleans, dates and null.
type reader struct{ errs Errors }

// field is a place in the file: a value, and the key that names it. A missing one has no node; reading it gives the zero
// value, without a second complaint.
type field struct {
	r    *reader
	key  *yaml.Node // nil for the whole file and for items of a list
	node *yaml.Node
	path string
}

func (f field) present() bool { return f.node != nil }

// fail reports what is wrong with the field's value.
func (f field) fail(hint, format string, args ...any) {
	f.r.report(f.node, f.path, hint, format, args...)
}

// failKey reports what is wrong with the field's key, or with what its mapping lacks.
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

// parse turns the text into one checked tree of mappings, lists and scalars. It returns nil after reporting why not.
func (r *reader) parse(text []byte) *yaml.Node {
	if len(text) > MaxBytes {
		r.errs = append(r.errs, &Error{Message: fmt.Sprintf("the file is larger than %d bytes", MaxBytes)})
		return nil
	}
	if bad, what := badByte(text); bad >= 0 {
		line := 1 + bytes.Count(text[:bad], []byte{'\n'})
		column := bad - bytes.LastIndexByte(text[:bad], '\n')
		r.errs = append(r.errs, &Error{Line: line, Column: column, Message: what})
		return nil
	}
	root, err := parseYAML(text)
	if err != nil {
		r.errs = append(r.errs, yamlError(err))
		return nil
	}
	r.plain(root, 0)
	if len(r.errs) > 0 {
		return nil
	}
	return root
}

// badByte is the index of the first byte that is not UTF-8 or a character that YAML does not allow, and what it is; or -1.
func badByte(text []byte) (at int, what string) {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			return i, "invalid UTF-8"
		case c == 0:
			return i, "a NUL byte"
		case c == '\t', c == '\n', c == '\r', c == 0x85: // YAML's own
		case unicode.IsControl(c), c == 0xFFFE, c == 0xFFFF:
			return i, fmt.Sprintf("the character U+%04X is not allowed", c)
		}
		i += size
	}
	return -1, ""
}

var (
	errEmpty  = errors.New("the policy is empty")
	errPanics = errors.New("the YAML reader does not understand this file")
)

// parseYAML reads exactly one document. Aliases stay aliases: nothing is expanded. A panic of the parser is an error.
func parseYAML(text []byte) (root *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, errPanics
		}
	}()
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, errEmpty
	case err != nil:
		return nil, err
	}
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, err
	default:
		return nil, &Error{Line: second.Line, Column: second.Column, Message: "a policy is one YAML document, and here a second begins"}
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil, errEmpty
	}
	return document.Content[0], nil
}

var (
	yamlLine = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

	// What yaml's parser, as opposed to its scanner, complains of. Its lines count from 0, and are those where the broken
	// list, mapping or value begins.
	yamlParser = regexp.MustCompile(`^did not find expected (<|node content|key|'-' indicator|',' or)`)
)

func yamlError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return &Error{Message: err.Error()}
	}
	line, _ := strconv.Atoi(m[1]) // no digits: the first line, whose number yaml takes for none
	e = &Error{Line: max(line, 1), Column: 1, Message: "not YAML: " + m[2]}
	if yamlParser.MatchString(m[2]) {
		e.Line, e.Hint = line+1, "the mistake is in the part that begins on this line"
	}
	return e
}

// plain refuses what a policy does not need of YAML: anchors, aliases, merge keys, tags, deep nesting.
func (r *reader) plain(n *yaml.Node, depth int) {
	what := ""
	switch {
	case depth > maxDepth:
		what = "nested too deeply"
	case n.Kind == yaml.AliasNode:
		what = "aliases (*" + clip(n.Value) + ") are not allowed: write the value out"
	case n.Anchor != "":
		what = "anchors (&" + clip(n.Anchor) + ") are not allowed: write the value out each time"
	case n.Style&yaml.TaggedStyle != 0:
		what = "tags (" + clip(n.Tag) + ") are not allowed"
	case strings.ContainsRune(n.Value, 0):
		what = "a NUL character"
	}
	if what != "" {
		r.report(n, "", "", "%s", what)
		return
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if k := n.Content[i]; k.Kind == yaml.ScalarNode && k.Tag == "!!merge" {
				r.report(k, "", "", "merge keys (<<) are not allowed: write the keys out")
			}
		}
	}
	for _, child := range n.Content {
		r.plain(child, depth+1)
	}
}

func clip(s string) string { q := quote(s); return q[1 : len(q)-1] }

// entries reads a mapping in the file's order, refusing a key that is not a scalar, is empty, or occurs twice.
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

var simpleName = regexp.MustCompile(`^[\pL\pN_-]{1,63}$`)

func join(path, key string) string {
	if !simpleName.MatchString(key) {
		key = quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// keys reads a mapping whose keys are fixed, refusing any other with the nearest known one as a hint. The map holds a
// field for every known key, present or not; ok reports that there is a mapping at all.
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
		if near := nearest(e.key.Value, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		e.failKey(hint, "unknown key")
	}
	return fields, f.present() && f.node.Kind == yaml.MappingNode
}

// keyNode is the node of a mapping's key, or nil.
func (f field) keyNode(name string) *yaml.Node {
	if f.present() && f.node.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(f.node.Content); i += 2 {
			if k := f.node.Content[i]; k.Kind == yaml.ScalarNode && k.Value == name {
				return k
			}
		}
	}
	return nil
}

// text reads a scalar's text. Quoted or not makes no difference, but a value must be there.
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

// boolean reads the plain words true and false, and nothing else: no yes, no NO, no on.
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

// whole reads a whole number between least and most, or reports why not.
func (f field) whole(least, most int64) (int64, bool) {
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
	case r.Cmp(new(big.Rat).SetInt64(least)) < 0, r.Cmp(new(big.Rat).SetInt64(most)) > 0:
		f.fail("", "must be between %d and %d, found %s", least, most, quote(s))
		return 0, false
	}
	return r.Num().Int64(), true
}

// list reads a list's items.
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

// isPlain holds for a scalar without quotes or block markers; isBlank for one that is not there at all.
func isPlain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 }
func isBlank(n *yaml.Node) bool { return isPlain(n) && n.Value == "" }

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	}
	if isBlank(n) {
		return "nothing"
	}
	return quote(n.Value)
}
