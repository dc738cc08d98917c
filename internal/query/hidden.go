package query

import (
	"strings"
	"unicode"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// What a person sees of a question has to be what is read of it: questions are reviewed, copied, and kept in the
// ledger. So outside of quotes nothing may stand that is shown as something else than it is (Boucher and Anderson,
// "Trojan Source", 2023), in comments least of all. What quotes hold is data, which may be any: a condition on such a
// text has to be writable.

// byteOrderMark is what some editors begin a file with.
const byteOrderMark = "\uFEFF"

// unmarked takes it away: positions are those that the editor shows.
func unmarked(sql string) string { return strings.TrimPrefix(sql, byteOrderMark) }

// checkShown refuses what is shown as something else than it is. The tokens are the scanner's, comments included.
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

// shown checks text that no quotes hold.
func (t text) shown(from, to int) error {
	for i, r := range string(t[from:to]) {
		at := from + i
		switch {
		case r == '\t' || r == '\n' || r == '\r' && at+1 < len(t) && t[at+1] == '\n':
		case unicode.Is(unicode.Bidi_Control, r):
			return t.refuse(at, "remove it; within quotes it is data, and may stand",
				"the character %U shows the text in another order than it is read in", r)
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return t.refuse(at, "remove it; lines end with a newline",
				"the control character %U is shown as something else than it is read as", r)
		case unseen(r):
			return t.refuse(at, "remove it; within quotes it is data, and may stand",
				"the character %U is read, and not seen", r)
		}
	}
	return nil
}

// unseen are the characters that are drawn as nothing. The joiners and the choice of a picture's form, which words and
// pictures are written with, are none; nor are the format characters that are drawn, around a number.
func unseen(r rune) bool {
	switch {
	case r < 0x80, r == '\u200C', r == '\u200D', r == '\uFE0E', r == '\uFE0F':
		return false
	case unicode.Is(unicode.Cf, r):
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// word checks what is read as a part of a name, or of a sign: every character beyond ASCII is. One that is drawn as a
// space would part the words that a person sees, and not those that are read; and a joiner behind a character of ASCII
// joins nothing, and would make two names that look the same.
func (t text) word(from, to int) error {
	if err := t.shown(from, to); err != nil {
		return err
	}
	ascii := true
	for i, r := range string(t[from:to]) {
		switch {
		case r >= 0x80 && (unicode.IsSpace(r) || r == '\u2800'):
			return t.refuse(from+i, "write a space of ASCII; within quotes it is data, and may stand",
				"the character %U is drawn as a space, and read as a part of a word", r)
		case ascii && (r == '\u200C' || r == '\u200D' || r == '\uFE0E' || r == '\uFE0F'):
			return t.refuse(from+i, "remove it; within quotes it is data, and may stand",
				"the character %U is read, and not seen", r)
		}
		ascii = r < 0x80
	}
	return nil
}

// unquoted checks a token but for what its quotes hold. A text may go on on another line, in quotes of its own, and is
// one token with what stands between them; a doubled quote ends and begins again.
func (t text) unquoted(from, to int) error {
	if token := string(t[from:to]); strings.HasPrefix(token, "$") {
		if tag := strings.IndexByte(token[1:], '$'); tag >= 0 { // $tag$ … $tag$
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

// plainComment refuses comments that some database executes, or ends elsewhere. MySQL and MariaDB execute /*! … */
// and /*M! … */, Oracle and others follow what /*+ … */ and --+ say. One comment within another is ended by most
// readers at the first */, by PostgreSQL at the second.
func (t text) plainComment(from, to int) error {
	comment := string(t[from:to])
	for _, opens := range []string{"/*!", "/*M!", "/*m!", "/*+", "--+"} {
		if strings.HasPrefix(comment, opens) {
			return t.refuse(from, "write a space after its first two signs, or leave it out",
				"a comment that begins with %s is executed by some databases, and ignored here", opens)
		}
	}
	if !strings.HasPrefix(comment, "/*") {
		return nil
	}
	if inner := strings.Index(comment[2:], "/*"); inner >= 0 {
		return t.refuse(from+2+inner, "end the one before the other begins, or write -- before each line",
			"a comment stands within a comment: some readers end both at the first */")
	}
	return nil
}
