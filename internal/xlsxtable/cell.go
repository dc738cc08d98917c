package xlsxtable

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// cell is one cell with a content.
type cell struct {
	column int // from 0
	kind   kind
	text   string // the stored text: of a number its digits, of a boolean 0 or 1
	format format // of a number
}

type kind int

const (
	empty      kind = iota
	words           // a text
	number          // a number, or a day or a time as a serial number
	truth           // a boolean
	moment          // a date or a time in ISO 8601
	fault           // an error such as #N/A
	unfinished      // a formula without a stored value
)

// readCell reads a cell whose start was read. before is the column of the cell before it in the row.
func (c *cells) readCell(start xml.StartElement, before int) (found cell, err error) {
	found.column = before + 1
	if ref := attribute(start, "r"); ref != "" {
		column, row, ok := place(ref)
		if !ok || row != c.row || column <= before {
			return found, c.broken("the references of its cells do not rise")
		}
		found.column = column
	}
	if found.column >= maxColumn {
		return found, c.broken("it has more than %d columns", maxColumn)
	}
	var stored string
	has, inline, formula := false, false, false
	for {
		token, err := c.d.Token()
		if err != nil {
			return found, c.broken("%s", reason(err))
		}
		switch t := token.(type) {
		case xml.EndElement:
			if inline != (attribute(start, "t") == "inlineStr") && has {
				return found, c.broken("a cell of another kind has a text inside, or one with a text has none")
			}
			return found, c.interpret(&found, start, stored, has, formula)
		case xml.StartElement:
			name := c.local(t)
			if name == "v" || name == "is" {
				if has {
					return found, c.broken("a cell has two values")
				}
				has, inline = true, name == "is"
			}
			switch name {
			case "v":
				stored, err = plainText(c.d)
			case "is":
				stored, err = richText(c.d)
			case "f":
				formula = true
				err = c.d.Skip()
			case "extLst":
				err = c.d.Skip()
			default:
				return found, c.broken("a cell has an unknown element")
			}
			if err != nil {
				return found, c.broken("%s", reason(err))
			}
		}
	}
}

// interpret sets the kind and the text of a cell from what the file stores.
func (c *cells) interpret(found *cell, start xml.StartElement, stored string, has, formula bool) error {
	if !has {
		if formula {
			found.kind = unfinished
		}
		return nil
	}
	switch t := attribute(start, "t"); t {
	case "s":
		i, err := strconv.Atoi(strings.TrimSpace(stored))
		if err != nil || i < 0 || i >= len(c.w.strings) {
			return c.broken("a cell refers to a text that does not exist")
		}
		found.kind, found.text = words, c.w.strings[i]
	case "str":
		found.kind, found.text = words, unescaped(stored)
	case "inlineStr":
		found.kind, found.text = words, stored
	case "b":
		found.kind, found.text = truth, strings.TrimSpace(stored)
	case "e":
		found.kind = fault
	case "d":
		found.kind, found.text = moment, strings.TrimSpace(stored)
	case "", "n":
		if found.text = strings.TrimSpace(stored); found.text == "" {
			if formula { // openpyxl stores an empty value beside it
				found.kind = unfinished
			}
			return nil
		}
		found.kind = number
		if s := attribute(start, "s"); s != "" {
			i, err := strconv.Atoi(s)
			if err != nil || i < 0 || i >= max(1, len(c.w.formats)) {
				return c.broken("a cell refers to a format that does not exist")
			}
			if i < len(c.w.formats) {
				found.format = c.w.formats[i]
			}
		}
	default:
		return c.broken("a cell has an unknown kind")
	}
	if found.kind == words && found.text == "" {
		found.kind = empty
	}
	return nil
}

func attribute(start xml.StartElement, name string) string {
	for _, a := range start.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// place reads a reference such as B12 as a column from 0 and a row from 1.
func place(ref string) (column, row int, ok bool) {
	i := 0
	for i < len(ref) && i < 4 && 'A' <= ref[i] && ref[i] <= 'Z' {
		column = column*26 + int(ref[i]-'A') + 1
		i++
	}
	row, err := strconv.Atoi(ref[i:])
	return column - 1, row, i > 0 && err == nil && row >= 1 && row <= maxRow && column <= maxColumn
}

// letters returns the letters of a column, from 0.
func letters(column int) string {
	text := ""
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		text = string(rune('A'+(n-1)%26)) + text
	}
	return text
}
