package xlsxtable

import (
	"errors"
	"fmt"
	"io"

	"dither/internal/policy"
	"dither/internal/value"
)

// Sketch returns the names in a sheet's header and a type for each, guessed from the first rows, for a draft that the
// owner corrects. A column without a name is left out. For the name "", the sheet is the only visible one.
func (w *Workbook) Sketch(name string) (columns []policy.SketchColumn, err error) {
	s, err := w.find(name)
	if err != nil {
		return nil, err
	}
	in, err := w.cells(s)
	if err != nil {
		return nil, err
	}
	row, err := in.next(nil)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the sheet has no header to draft a policy from")
	}
	if err != nil {
		return nil, err
	}
	header, err := headerNames(row)
	if err != nil {
		return nil, err
	}
	first := in.row
	second, err := in.next(nil) // the row that GuessTypes reads next
	if err == nil && 2*len(row) <= len(second) {
		return nil, fmt.Errorf("row %d is the first with a cell, so it is read as the header, but has only %d of the %d cells of "+
			"row %d: %s", first, len(row), len(second), in.row, deleteTitles)
	}
	var names []string
	place := map[int]int{}
	for _, x := range row {
		place[x.column] = len(names)
		names = append(names, header[x.column])
	}
	types := policy.GuessTypes(names, func() ([]string, error) {
		if err != nil {
			return nil, err
		}
		texts := make([]string, len(names))
		for _, x := range second {
			if i, named := place[x.column]; named {
				texts[i] = w.shown(x)
			}
		}
		second, err = in.next(second)
		return texts, nil
	})
	for i, t := range types {
		columns = append(columns, policy.SketchColumn{Name: names[i], Type: t})
	}
	return columns, nil
}

// shown returns a text from whose form the type of a cell can be guessed, or "" for a cell that gives no evidence.
func (w *Workbook) shown(x cell) string {
	switch {
	case x.kind == truth:
		return map[string]string{"0": "false", "1": "true"}[x.text]
	case x.kind == number && x.format == dated:
		days, micros, ok := split(x.text)
		if ok && days == 0 {
			return value.Value{Type: value.Time, Int: micros}.String()
		}
		day, exists := w.epoch.day(days)
		switch {
		case !ok || !exists:
			return ""
		case micros == 0:
			return value.OfDay(day).String()
		}
		return value.OfMicro(day*value.DayMicros + micros).String()
	case x.kind == number:
		if digits, ok := whole(x.text); ok {
			return digits
		}
		return x.text
	case x.kind == words || x.kind == moment:
		return x.text
	}
	return ""
}
