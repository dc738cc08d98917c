package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits on the text of a policy.
const (
	MaxBytes = 1 << 20 // size of the file in bytes
	maxDepth = 12      // depth of nesting; a valid policy has at most six levels
)

// parse parses and checks the text, and returns the root of its tree of mappings, lists and scalars. On an error it
// records the error and returns nil.
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

// badByte returns the index and a description of the first byte that is not valid UTF-8, or of the first character
// that YAML does not allow. If there is none, the index is −1.
func badByte(text []byte) (at int, what string) {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			return i, "invalid UTF-8"
		case c == 0:
			return i, "a NUL byte"
		case c == '\t', c == '\n', c == '\r', c == 0x85: // allowed by YAML
		case unicode.IsControl(c), c == 0xFFFE, c == 0xFFFF:
			return i, fmt.Sprintf("the character U+%04X is not allowed", c)
		}
		i += size
	}
	return -1, ""
}

var (
	errEmpty  = errors.New("the file is empty")
	errPanics = errors.New("the YAML reader does not understand this file")
)

// parseYAML parses exactly one YAML document. It does not expand aliases. If the YAML package panics, parseYAML
// returns errPanics.
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
		return nil, &Error{
			Line: second.Line, Column: second.Column,
			Message: "the file must be one YAML document, and here a second begins",
		}
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil, errEmpty
	}
	return document.Content[0], nil
}

var (
	yamlLine = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

	// yamlParser matches errors of the YAML package's parser, as opposed to its scanner. Line numbers in these
	// errors count from 0, and name the line on which the invalid list, mapping or value begins.
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
	line, _ := strconv.Atoi(m[1]) // without a number, the error is on the first line
	e = &Error{Line: max(line, 1), Column: 1, Message: "not YAML: " + m[2]}
	if yamlParser.MatchString(m[2]) {
		e.Line, e.Hint = line+1, "the mistake is in the part that begins on this line"
	}
	return e
}

// plain records errors for the parts of YAML that a policy does not need: anchors, aliases, merge keys, tags and
// deep nesting.
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

func clip(s string) string { return strings.Trim(quote(s), `"`) }
