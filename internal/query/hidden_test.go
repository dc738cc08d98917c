package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// What is shown as something else than it is read as has no place outside of quotes, wherever it stands: in comments,
// names, between words, and between the pieces of one text.
func TestShownAsItIs(t *testing.T) {
	refused := map[rune]string{}
	for _, r := range "\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069\u200E\u200F\u061C" {
		refused[r] = "a different order"
	}
	for _, r := range "\x01\b\v\f\r\x1b\x7f\u0085\u009b\u2028\u2029" {
		refused[r] = "the control character"
	}
	for _, r := range "\u00AD\u034F\u115F\u180E\u200B\u2060\u2063\u206F\u3164\uFE00\uFEFF\uFFA0\uFFFB\U000E0001\U000E0041\U000E0100" {
		refused[r] = "it is invisible"
	}
	if _, err := Parse("SELECT 'a\u202E'\r\n\f'b' FROM t"); err == nil ||
		!strings.HasPrefix(err.Error(), "2:1: the control character U+000C") {
		t.Errorf("between the pieces of one text: %v", err)
	}
	allowed := "\t\néß\u0600\u200C\u200D\uFE0F日😀\u05D0\u0627"
	outside := []string{
		"SELECT a FROM t -- x%cy", "SELECT a /* x%cy */ FROM t", "SELECT a FROM t --%c \n", "/*%c*/SELECT a FROM t",
		"SELECT a %c FROM t", "SELECT a%cb FROM t", "SELECT a FROM t%c",
		"SELECT 'a' -- %c \n, 'b' FROM t", "SELECT 'a''' -- '%c \n, 'b' FROM t", `SELECT E'\'' -- %c` +
			" \n, 'b' FROM t", `SELECT 'a\' -- %c` + " \n, 'b' FROM t", `SELECT "a" /*"%c"*/ FROM t`,
		"SELECT U&'a' -- \"%c \n, 'b' FROM t", "SELECT 1 FROM t WHERE a = 'it''s' -- %c",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) /* %c */ COUNT(*) FROM t",
		"SELECT X'1F', a -- %c \n, 'b' FROM t",
	}
	within := []string{
		"SELECT 'x%cy' FROM t", "SELECT 'it''s%c' FROM t", "SELECT 'a'\n'%c' FROM t", `SELECT E'\'%c' FROM t`,
		"SELECT E'\\\\'\n'%c\\'%c' FROM t", `SELECT "x%cy" FROM t`, `SELECT """%c" FROM t`,
		"SELECT $$x%cy$$ FROM t",
		"SELECT $q$'%c$q$ FROM t", `SELECT '--%c' FROM t`, `SELECT '/*!%c*/' FROM t`, `SELECT "a" AS "%c" FROM t`,
		`SELECT U&"a%c" FROM t`, `SELECT 'a\%c' FROM t`, `SELECT 'a\', "b" /* '*/, '%c' FROM t`,
		"SELECT a /* ' */, '%c' -- '\nFROM t",
	}
	for r, why := range refused {
		for _, form := range outside {
			sql := strings.ReplaceAll(form, "%c", string(r))
			_, err := Parse(sql)
			if err == nil || !strings.Contains(err.Error(), why) ||
				!strings.Contains(err.Error(), fmt.Sprintf("%U", r)) {
				t.Errorf("%+q: %v", sql, err)
				continue
			}
			var e *Error
			if line, _, ok := strings.Cut(sql, string(r)); !errors.As(err, &e) || !ok ||
				e.Pos != text(sql).pos(len(line)) || e.Hint == "" {
				t.Errorf("%+q: %v, hint %q", sql, err, e.Hint)
			}
		}
		for _, form := range within {
			sql := strings.ReplaceAll(form, "%c", string(r))
			if _, err := Parse(sql); err != nil {
				t.Errorf("%+q: %v", sql, err)
			}
		}
	}
	for _, r := range allowed {
		sql := fmt.Sprintf("SELECT a /* %c */ FROM t -- x%c", r, r)
		if _, err := Parse(sql); r != '\n' && err != nil {
			t.Errorf("%+q: %v", sql, err)
		}
	}
	if _, err := Parse("SELECT '\u202E"); err == nil || !strings.Contains(err.Error(), "unterminated") {
		t.Errorf("a text without an end: %v", err)
	}
	if _, err := Parse("SELECT $x\u202E$a$x\u202E$ FROM t"); err == nil ||
		!strings.HasPrefix(err.Error(), "1:10: the character U+202E") {
		t.Errorf("in a text's own quotes: %v", err)
	}
	for _, sql := range []string{"SELECT a -- b\r\nFROM t\r\n", "-- b\r\n/* c\r\n */ SELECT a FROM t"} {
		if _, err := Parse(sql); err != nil {
			t.Errorf("%q: %v", sql, err)
		}
	}
}

// What is drawn as a space parts no words, and a joiner makes no second name that looks like the first. In comments and
// quotes both may stand.
func TestNamesAsTheyLook(t *testing.T) {
	for _, r := range "\u00A0\u1680\u2000\u2009\u200A\u202F\u205F\u2800\u3000" {
		for form, at := range map[string]int{
			"SELECT COUNT(*) FROM t a%cWHERE%csmoker":    25,
			"SELECT COUNT(*) AS a%c, SUM(b) AS a FROM t": 21, "SELECT a%cFROM t": 9, "SELECT $a%c$x$a%c$ FROM t": 10,
			"SELECT 'a' AS\"b\"%c FROM t": 17,
		} {
			sql := strings.ReplaceAll(form, "%c", string(r))
			if _, err := Parse(sql); err == nil ||
				!strings.HasPrefix(err.Error(), fmt.Sprintf("1:%d: the character %U looks like a space", at, r)) {
				t.Errorf("%+q: %v", sql, err)
			}
		}
		for _, form := range []string{
			"SELECT a FROM t -- b%cc", "SELECT a /* b%cc */ FROM t", "SELECT 'b%cc' FROM t",
			`SELECT a AS "b%cc" FROM t`, "SELECT $$b%cc$$ FROM t",
		} {
			if _, err := Parse(strings.ReplaceAll(form, "%c", string(r))); err != nil {
				t.Errorf("%q with %U: %v", form, r, err)
			}
		}
	}
	for _, r := range "\u200C\u200D\uFE0E\uFE0F" {
		sql := "SELECT COUNT(*) AS a, SUM(b) AS a" + string(r) + " FROM t"
		if _, err := Parse(sql); err == nil || !strings.HasPrefix(err.Error(), "1:34: the character ") {
			t.Errorf("%+q: %v", sql, err)
		}
		for _, sql := range []string{
			"SELECT می" + string(r) + "خواهم FROM t",
			"SELECT a -- b" + string(r) + "\nFROM t", "SELECT 'a" + string(r) + "' FROM t",
		} {
			if _, err := Parse(sql); err != nil {
				t.Errorf("%+q: %v", sql, err)
			}
		}
	}
}

// A byte order mark is nothing where a file begins, and refused elsewhere.
func TestByteOrderMark(t *testing.T) {
	s, err := Parse("\uFEFFSELECT a FROM t")
	if err != nil || s.String() != "SELECT a FROM t" {
		t.Errorf("%v, %v", s, err)
	}
	for sql, want := range map[string]string{
		"\uFEFFSELECT )":              "1:8: ", // as an editor counts
		"\uFEFF\uFEFFSELECT a FROM t": "1:1: the character U+FEFF",
		" \uFEFFSELECT a FROM t":      "1:2: the character U+FEFF",
		"\uFEFF":                      "1:1: there is no question",
	} {
		if _, err := Parse(sql); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+q: %v", sql, err)
		}
	}
	Ahead([]string{"\uFEFFSELECT b FROM t"})
	parserMu.Lock()
	_, ok := kept[job{"SELECT b FROM t", defaultLimits.tokens}]
	parserMu.Unlock()
	if !ok {
		t.Error("Ahead reads another text than Parse")
	}
}
