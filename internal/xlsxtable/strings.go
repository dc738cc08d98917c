package xlsxtable

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// maxStrings is the largest number of shared texts. An empty one takes a few bytes in the file and more in memory.
const maxStrings = 10_000_000

// sharedStrings reads the texts that cells refer to by number. An empty part has none.
func sharedStrings(part []byte) (texts []string, err error) {
	if part == nil {
		return nil, nil
	}
	d, root := newDecoder(part), xml.Name{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts, nil
		}
		if err != nil {
			return nil, err
		}
		start, is := token.(xml.StartElement)
		switch name := start.Name; {
		case !is:
		case root.Local == "" && name.Local == "sst":
			root = name
		case name == xml.Name{Space: root.Space, Local: "si"}:
			text, err := richText(d)
			if err != nil {
				return nil, err
			}
			if texts = append(texts, text); len(texts) > maxStrings {
				return nil, malformed("it has too many entries")
			}
		case name == xml.Name{Space: root.Space, Local: "extLst"}:
			if err := d.Skip(); err != nil {
				return nil, err
			}
		default: // it might stand for a text, and move the numbers of those that follow
			return nil, malformed("it has an unknown element")
		}
	}
}

// richText reads the rest of an element whose start was read, and returns its text: that of all its elements t, except
// for phonetic hints.
func richText(d *xml.Decoder) (string, error) {
	var b strings.Builder
	phonetic, inside := 0, false
	for depth := 1; depth > 0; {
		token, err := d.Token()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if inside {
				return "", malformed("a text has elements inside")
			}
			if depth++; t.Name.Local == "rPh" || phonetic > 0 {
				phonetic++
			}
			inside = t.Name.Local == "t"
		case xml.EndElement:
			if depth--; phonetic > 0 {
				phonetic--
			}
			inside = false
		case xml.CharData:
			if inside && phonetic == 0 {
				if b.Write(t); b.Len() > maxText {
					return "", malformed("a text is too long")
				}
			}
		}
	}
	return unescaped(b.String()), nil
}

var escape = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

// unescaped replaces Excel's escapes of characters that XML cannot hold, such as _x000D_. An escape of half a surrogate
// pair stays as it is.
func unescaped(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(found string) string {
		code, err := strconv.ParseUint(found[2:6], 16, 16)
		if err != nil || utf16.IsSurrogate(rune(code)) {
			return found
		}
		return string(rune(code))
	})
}
