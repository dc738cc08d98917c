package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"dither/internal/nearest"
	"dither/internal/value"
)

// Spelling declares how a CSV file spells values, if not as [value.Parse] reads them. Every field that is unset has no
// effect. Lists are sorted.
type Spelling struct {
	Encoding  string   `json:",omitempty"` // "utf-16" or "windows-1252"; "" is UTF-8, or UTF-16 with a byte order mark
	Nulls     []string `json:",omitempty"` // further texts that mean NULL, besides Dialect.Null
	Decimal   string   `json:",omitempty"` // the decimal mark, if it is not a point
	Thousands string   `json:",omitempty"` // the character between thousands; a space stands for no-break spaces too
	Dates     []string `json:",omitempty"` // the forms of dates, such as DD.MM.YYYY, in place of YYYY-MM-DD
	// the forms of timestamps, such as DD.MM.YYYY hh:mm, in place of ISO 8601
	Timestamps []string `json:",omitempty"`
	True       []string `json:",omitempty"` // further words for true and false, in lower case
	False      []string `json:",omitempty"`
}

// The encodings that a source may declare.
const (
	UTF8        = "utf-8"
	UTF16       = "utf-16"
	Windows1252 = "windows-1252"
)

// The treatments of the case of a column's texts.
const (
	Lower = "lower"
	Upper = "upper"
)

// Tidy returns a source's text as the column declares it: without blanks around it, and in one case. It depends on
// nothing but the declaration and the text.
func (c *Column) Tidy(text string) string {
	if c.Trim {
		text = strings.TrimSpace(text)
	}
	switch c.Case {
	case Lower:
		text = strings.ToLower(text)
	case Upper:
		text = strings.ToUpper(text)
	}
	return text
}

// tidied reports whether the column's texts are changed at sealing.
func tidied(c *Column) bool { return c.Type == value.Text && (c.Trim || c.Case != "") }

// Nulls returns the texts that mean NULL.
func (d Dialect) Nulls() []string {
	if d.Spelling == nil {
		return []string{d.Null}
	}
	return append([]string{d.Null}, d.Spelling.Nulls...)
}

// textFiles records an error for a column with trim or case, unless the table's source is a text file.
func (r *reader) textFiles(t *Table) {
	switch t.Source.Format {
	case "", CSV, JSONLines, XLSX:
		return
	}
	for _, c := range t.Columns {
		if at, ok := r.tidied[c]; ok && (c.Trim || c.Case != "") {
			at.failKey("", "trim and case apply only to columns of csv, jsonl and xlsx sources")
		}
	}
}

var spellingKeys = []string{"encoding", "decimal", "thousands", "dates", "timestamps", "booleans"}

// maxWords is the largest number of texts in one list of a spelling.
const maxWords = 100

// spelling reads the keys of a source that declare its spelling, and the texts for NULL.
func (r *reader) spelling(keys map[string]field, d *Dialect) {
	var s Spelling
	nulls := keys["null"].words()
	if len(nulls) > 0 {
		d.Null, s.Nulls = nulls[0], nulls[1:]
	}
	s.Encoding = keys["encoding"].encoding()
	if text, ok := keys["decimal"].text(); ok && text != "." {
		if s.Decimal = text; text != "," {
			keys["decimal"].fail("", "the decimal mark is . or , and not %s", quote(text))
		}
	}
	if text, ok := keys["thousands"].text(); ok {
		s.Thousands = keys["thousands"].thousands(text, s.Decimal)
	}
	s.Dates = keys["dates"].forms(DateShape, "DD.MM.YYYY")
	s.Timestamps = keys["timestamps"].forms(TimestampShape, "DD.MM.YYYY hh:mm")
	s.True, s.False = keys["booleans"].booleans()
	if s.declared() {
		d.Spelling = &s
	}
}

func (s Spelling) declared() bool {
	return len(s.Nulls)+len(s.Dates)+len(s.Timestamps)+len(s.True)+len(s.False) > 0 || s.Encoding+s.Decimal+s.Thousands != ""
}

// words reads one text or a list of texts. It returns them sorted, each once.
func (f field) words() []string {
	if !f.present() {
		return nil
	}
	items := []field{f}
	if f.node.Kind == yaml.SequenceNode {
		items, _ = f.list()
		if len(items) == 0 || len(items) > maxWords {
			f.fail("", "expected 1 to %d texts, found %d", maxWords, len(items))
			return nil
		}
	}
	var words []string
	for _, item := range items {
		if s, ok := item.text(); ok {
			words = append(words, s)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func (f field) encoding() string {
	s, ok := f.text()
	switch name := strings.ToLower(s); {
	case !ok || name == UTF8:
		return ""
	case name == UTF16 || name == Windows1252:
		return name
	case strings.Contains(name, "8859") || strings.Contains(name, "latin") || strings.Contains(name, "cp1252"):
		f.fail("write windows-1252, which contains ISO 8859-1", "unknown encoding %s", quote(s))
	default:
		f.fail("one of utf-8, utf-16, windows-1252", "unknown encoding %s", quote(s))
	}
	return ""
}

func (f field) thousands(text, decimal string) string {
	if text == "space" {
		text = " "
	}
	if !slices.Contains([]string{".", ",", "'", "’", " "}, text) {
		f.fail("", "the character between thousands is . , ' ’ or space, and not %s", quote(text))
	}
	if decimal == "" {
		decimal = "."
	}
	if text == decimal {
		f.fail("declare decimal too", "the character between thousands is also the decimal mark")
	}
	return text
}

func (f field) booleans() (yes, no []string) {
	keys, ok := f.keys("true", "false")
	if !ok {
		return nil, nil
	}
	usual := map[string]string{"true": "true", "t": "true", "1": "true", "false": "false", "f": "false", "0": "false"}
	for _, key := range []string{"true", "false"} {
		for _, word := range keys[key].words() {
			word = strings.ToLower(word)
			if is := usual[word]; is != "" && is != key {
				keys[key].fail("", "%s already means %s", quote(word), is)
			}
			usual[word] = key
			if key == "true" {
				yes = append(yes, word)
			} else {
				no = append(no, word)
			}
		}
	}
	slices.Sort(yes)
	slices.Sort(no)
	return slices.Compact(yes), slices.Compact(no)
}

// tidying reads the keys of a column that change its texts, and checks the declared values against them.
func (r *reader) tidying(keys map[string]field, c *Column) {
	c.Trim = keys["trim"].boolean(false)
	if keys["trim"].present() || keys["case"].present() {
		if r.tidied == nil {
			r.tidied = map[*Column]field{}
		}
		if r.tidied[c] = keys["trim"]; !c.Trim {
			r.tidied[c] = keys["case"]
		}
	}
	if s, ok := keys["case"].text(); ok {
		if c.Case = s; s != Lower && s != Upper {
			hint := "omit the key to keep the case"
			if near := nearest.Name(s, []string{Lower, Upper}); near != "" {
				hint = "did you mean " + near + "?"
			}
			keys["case"].fail(hint, "must be lower or upper, found %s", quote(s))
		}
		if c.Type != value.Text {
			keys["case"].failKey("", "a column of type %s has no case", c.Type)
		}
	}
	for _, v := range c.Values {
		if tidied(c) && c.Tidy(v.Text) != v.Text {
			keys["values"].fail("write it as "+quote(c.Tidy(v.Text)),
				"with trim and case as declared, the value %s cannot occur", quote(v.Text))
		}
	}
}
