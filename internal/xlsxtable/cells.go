package xlsxtable

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The size of a sheet, as Excel bounds it.
const (
	maxRow    = 1 << 20
	maxColumn = 1 << 14
)

// cells reads the rows of a sheet from its XML, strictly: rows and columns must rise, every reference must hold, and
// the one element sheetData has all rows and nothing else.
type cells struct {
	d      *xml.Decoder
	w      *Workbook
	space  string // the namespace of the sheet's elements
	at     where
	depth  int // the number of open elements, except for sheetData and those inside
	row    int // the number of the last row, from 1
	hidden int64
	merged []span // known at the end
}

type where int

const (
	beforeRows where = iota
	amongRows        // in the element sheetData
	afterRows
	atEnd
)

func (w *Workbook) cells(s sheet) (*cells, error) {
	part, ok := w.part(s.part)
	if !ok {
		return nil, damaged()
	}
	return &cells{d: newDecoder(part), w: w}, nil
}

func (c *cells) broken(format string, args ...any) error {
	return fmt.Errorf("the sheet is damaged after row %d: "+format, append([]any{c.row}, args...)...)
}

// local returns the name of an element, or "" if the element is not of the sheet's namespace.
func (c *cells) local(start xml.StartElement) string {
	if start.Name.Space != c.space {
		return ""
	}
	return start.Name.Local
}

// next returns the cells of the next row that has one, or io.EOF.
func (c *cells) next(into []cell) ([]cell, error) {
	for c.at != atEnd {
		token, err := c.d.Token()
		switch {
		case errors.Is(err, io.EOF) && c.at == afterRows:
			c.at = atEnd
			continue
		case errors.Is(err, io.EOF):
			return nil, c.broken("it has no table of cells")
		case err != nil:
			return nil, c.broken("%s", reason(err))
		}
		switch t := token.(type) {
		case xml.StartElement:
			if c.at != amongRows {
				if err := c.enter(t); err != nil {
					return nil, err
				}
				continue
			}
			if c.local(t) != "row" {
				return nil, c.broken("there is an unknown element between the rows")
			}
			found, err := c.readRow(t, into[:0])
			if err != nil || len(found) > 0 {
				return found, err
			}
		case xml.EndElement:
			if c.at == amongRows {
				c.at = afterRows
			} else {
				c.depth--
			}
		}
	}
	return nil, io.EOF
}

// enter reads the start of an element outside the table of cells.
func (c *cells) enter(start xml.StartElement) error {
	if c.depth == 0 {
		c.space = start.Name.Space
	}
	name := c.local(start)
	switch {
	case c.depth == 0 && name != "worksheet":
		return c.broken("it is no sheet of cells")
	case name == "sheetData" && c.depth == 1 && c.at == beforeRows:
		c.at = amongRows
		return nil
	case name == "sheetData" || name == "row": // a drawing has rows in a namespace of its own
		return c.broken("it has rows outside the table of cells")
	case start.Name.Local == "mergeCell":
		found, ok := spanOf(attribute(start, "ref"))
		if !ok {
			return c.broken("its list of merged cells cannot be read")
		}
		if c.merged = append(c.merged, found); len(c.merged) > maxMerged {
			return c.broken("it has more than %d merged ranges", maxMerged)
		}
	}
	c.depth++
	return nil
}

func (c *cells) readRow(start xml.StartElement, into []cell) ([]cell, error) {
	row := c.row + 1
	if text := attribute(start, "r"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < row || n > maxRow {
			return nil, c.broken("the numbers of its rows do not rise")
		}
		row = n
	}
	c.row = row
	if row > maxRow {
		return nil, c.broken("it has more than %d rows", maxRow)
	}
	column := -1
	for {
		token, err := c.d.Token()
		if err != nil {
			return nil, c.broken("%s", reason(err))
		}
		switch t := token.(type) {
		case xml.EndElement:
			if hidden := attribute(start, "hidden"); len(into) > 0 && (hidden == "1" || hidden == "true") {
				c.hidden++
			}
			return into, nil
		case xml.StartElement:
			switch c.local(t) {
			case "c":
				found, err := c.readCell(t, column)
				if err != nil {
					return nil, err
				}
				if column = found.column; found.kind != empty {
					into = append(into, found)
				}
			case "extLst":
				if err := c.d.Skip(); err != nil {
					return nil, c.broken("%s", reason(err))
				}
			default:
				return nil, c.broken("a row has an unknown element")
			}
		}
	}
}

// maxMerged is the largest number of merged ranges of a sheet.
const maxMerged = 1_000_000

// span is a range of cells: columns from 0 and rows from 1, with both ends.
type span struct{ left, right, top, bottom int }

// spanOf reads a range such as A2:B4. Its corners may be in any order.
func spanOf(ref string) (s span, ok bool) {
	from, to, ok := strings.Cut(ref, ":")
	left, top, fits := place(from)
	right, bottom, also := place(to)
	s = span{min(left, right), max(left, right), min(top, bottom), max(top, bottom)}
	return s, ok && fits && also
}

func (s span) String() string {
	return fmt.Sprintf("%s%d:%s%d", letters(s.left), s.top, letters(s.right), s.bottom)
}
