package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Error is one error in a policy file. Its text is for the owner, who wrote the file, and may quote the file.
type Error struct {
	File         string // as passed to Load; "" from Decode
	Line, Column int    // from 1; 0 if unknown
	Field        string // path of the field, such as "tables.visits.columns.age.bounds"; "" for the whole file
	Message      string // what is wrong
	Hint         string // what to write instead; may be ""
}

// Error returns "file:line:column: field: message (hint)" without the parts that are unknown.
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

// Errors lists the errors that Decode found, in the file's order. It is never empty. errors.As finds the first
// *Error.
type Errors []*Error

// maxErrors is the largest number of errors listed for one file. The others are only counted.
const maxErrors = 50

// Error returns the errors, one per line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns each error separately.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// sorted sorts the errors by position and keeps the first maxErrors. If there are more, it adds an entry that
// counts the rest.
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

// secret reports whether a text may contain the address or the password of a server.
func secret(s string) bool {
	lower := strings.ToLower(s)
	return strings.Contains(s, "://") || strings.Contains(lower, "password") || strings.Contains(lower, "passwd")
}

const notRepeated = "a text that may hold a password"

// quote returns a text from the file in quotes, shortened if it is long. It does not repeat a text that may contain
// a password, because messages are logged and shown to other people.
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
