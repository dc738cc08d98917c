package query

import (
	"strings"
	"unicode"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Questions are reviewed, copied, and kept in the ledger. So a person must see the same question as the parser.
// Outside of quotes, and in comments, no character is allowed that is displayed as something else (Boucher and
// Anderson, "Trojan Source", 2023). Quoted text is data and may contain any character, so that a condition can be
// written on any text.

// byteOrderMark is a character that some editors write at the start of a file.
const byteOrderMark = "\uFEFF"

// unmarked removes a leading byte order mark, so that positions match those in an editor.
func unmarked(sql string) string { return requoted(strings.TrimPrefix(sql, byteOrderMark)) }

// checkShown refuses text that is displayed as something else. tokens are those of PostgreSQL's scanner, including
// comments.
func checkShown(src text, tokens []*pg.ScanToken) error {
	at := 0
	for _, t := range tokens {
		start := min(max(int(t.GetStart()), at), len(src))
		end := min(max(int(t.GetEnd()), start), len(src))
		if err := src.shown(at, start); err != nil {
			return err
		}
		var err error
		switch t.GetToken() {
		case pg.Token_SQL_COMMENT, pg.Token_C_COMMENT:
			if err = src.shown(start, end); err == nil {
				err = src.plainComment(start, end)
			}
		default:
			err = src.unquoted(start, end)
		}
		if err != nil {
			return err
		}
		at = end
	}
	return src.shown(at, len(src))
}

// shown checks characters outside of quotes.
func (t text) shown(from, to int) error {
	for i, r := range string(t[from:to]) {
		at := from + i
		switch {
		case r == '\t' || r == '\n' || r == '\r' && at+1 < len(t) && t[at+1] == '\n':
		case unicode.Is(unicode.Bidi_Control, r):
			return t.refuse(at, "remove it; inside quotes it is data, and allowed",
				"the character %U displays the text in a different order from the one in which it is read", r)
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return t.refuse(at, "remove it; lines end with a newline",
				"the control character %U is displayed differently from how it is read", r)
		case unseen(r):
			return t.refuse(at, "remove it; inside quotes it is data, and allowed",
				"the character %U is read, but it is invisible", r)
		}
	}
	return nil
}

// unseen reports whether a character is invisible. It returns false for joiners and variation selectors, which are
// part of words and emoji, and for the visible format characters around numbers.
func unseen(r rune) bool {
	switch {
	case r < 0x80, r == '\u200C', r == '\u200D', r == '\uFE0E', r == '\uFE0F':
		return false
	case unicode.Is(unicode.Cf, r):
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// word checks a part of a name or of an operator. The scanner treats every character beyond ASCII as part of a
// name. A character that looks like a space would separate words for a person, but not for the parser. A joiner
// after an ASCII character has no effect, and would make two different names look the same.
func (t text) word(from, to int) error {
	if err := t.shown(from, to); err != nil {
		return err
	}
	ascii := true
	for i, r := range string(t[from:to]) {
		switch {
		case r >= 0x80 && (unicode.IsSpace(r) || r == '\u2800'):
			return t.refuse(from+i, "write an ASCII space; inside quotes it is data, and allowed",
				"the character %U looks like a space, but is read as part of a word", r)
		case ascii && (r == '\u200C' || r == '\u200D' || r == '\uFE0E' || r == '\uFE0F'):
			return t.refuse(from+i, "remove it; inside quotes it is data, and allowed",
				"the character %U is read, but it is invisible", r)
		}
		ascii = r < 0x80
	}
	return nil
}

// unquoted checks a token except for its quoted text. A text constant may continue on another line in further
// quotes; the scanner returns it as one token with everything in between. In a doubled quote, the first quote ends
// the text and the second begins it again.
func (t text) unquoted(from, to int) error {
	if token := string(t[from:to]); strings.HasPrefix(token, "$") {
		if tag := strings.IndexByte(token[1:], '$'); tag >= 0 { // a constant in the form $tag$ … $tag$
			return t.word(from, from+1+tag)
		}
	}
	escapes := to-from > 1 && (t[from] == 'E' || t[from] == 'e') && t[from+1] == '\''
	within, began := byte(0), from
	for i := from; i < to; i++ {
		switch c := t[i]; {
		case within == 0 && (c == '\'' || c == '"'):
			if err := t.word(began, i); err != nil {
				return err
			}
			within = c
		case within != 0 && c == '\\' && escapes:
			i++
		case within != 0 && c == within:
			within, began = 0, i+1
		}
	}
	if within != 0 {
		return nil
	}
	return t.word(began, to)
}

// plainComment refuses comments that some databases execute, or end at another position. MySQL and MariaDB execute
// /*! … */ and /*M! … */. Oracle and others obey /*+ … */ and --+. A comment inside a comment ends both at the
// first */ in most systems, but only the inner one in PostgreSQL.
func (t text) plainComment(from, to int) error {
	comment := string(t[from:to])
	for _, opens := range []string{"/*!", "/*M!", "/*m!", "/*+", "--+"} {
		if strings.HasPrefix(comment, opens) {
			return t.refuse(from, "write a space after its first two characters, or leave the comment out",
				"a comment that begins with %s is executed by some databases, and ignored here", opens)
		}
	}
	if !strings.HasPrefix(comment, "/*") {
		return nil
	}
	if inner := strings.Index(comment[2:], "/*"); inner >= 0 {
		return t.refuse(from+2+inner, "end one comment before the next begins, or write -- before each line",
			"one comment is inside another: some readers end both at the first */")
	}
	return nil
}
