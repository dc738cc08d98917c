package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Error is one fault of a policy file. Its text is for the owner, who wrote the file, and quotes it.
type Error struct {
	File         string // as given to Load; "" from Decode
	Line, Column int    // from 1; 0 if unknown
	Field        string // the path of the field, as in "tables.visits.columns.age.bounds"; "" for the file as a whole
	Message      string // what is wrong
	Hint         string // what to write instead; may be empty
}

// Error writes "file:line:column: field: message (hint)" without the unknown parts.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.File != "" && e.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	case e.File != "":
		fmt.Fprintf(&b, "%s: ", e.File)
	case e.Line > 0:
		fmt.Fprintf(&b, "line %d:%d: ", e.Line, e.Column)
	}
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// Errors is every fault that Decode found, in the file's order, and never empty. errors.As finds the first *Error.
type Errors []*Error

// maxErrors bounds the errors reported for one file; the others are counted.
const maxErrors = 50

// Error writes one error a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors one by one.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// sorted orders errors by place and keeps the first maxErrors, plus a last one that counts the others.
func (es Errors) sorted() Errors {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if more := len(es) - maxErrors; more > 0 {
		es = append(es[:maxErrors:maxErrors], &Error{
			Line: es[maxErrors].Line, Column: es[maxErrors].Column, Message: fmt.Sprintf("and %d more", more),
		})
	}
	return es
}

// secret reports whether a text may say how to reach a server, and with which password.
func secret(s string) bool {
	lower := strings.ToLower(s)
	return strings.Contains(s, "://") || strings.Contains(lower, "password") || strings.Contains(lower, "passwd")
}

const notRepeated = "a text that may hold a password"

// quote writes a text from the file for a message: quoted, and cut if it is long. Errors are logged and shown to many
// people, so quote does not repeat a text that may hold a password.
func quote(s string) string {
	if secret(s) {
		return notRepeated
	}
	const most = 60
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return fmt.Sprintf("%q", s)
}
