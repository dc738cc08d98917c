package xlsxtable

import (
	"dither/internal/csvtable"
	"dither/internal/policy"
	"dither/internal/value"
)

// The faults of cells. They never quote a cell.
const (
	isError      = "the cell holds an error such as #N/A"
	isUnfinished = "the cell is a formula without a stored value: open the workbook in Excel and save it"
	isNoDate     = "the cell is a number without a date format: format the column as a date"
	isNoDay      = "the cell is not an existing day up to the year 9999"
	isDate       = "the cell is a date or a time"
	isNumber     = "the cell is a number that is not whole, or has a number format: format the column as text, " +
		"or declare type real"
	isTruth  = "the cell is TRUE or FALSE: check whether the column should have type boolean"
	isOfDay  = "the cell has a time of day: check whether the column should have type timestamp"
	isNoTime = "the cell has a date: check whether the column should have type timestamp"
)

// value returns the value of a cell in column c, or the reason why it cannot be read. The value depends on the cell, the
// declaration and the workbook's epoch alone.
func (t *Reader) value(c *policy.Column, x cell) (v value.Value, wrong string) {
	null := value.NullOf(c.Type)
	switch x.kind {
	case empty:
		return null, ""
	case fault:
		return null, isError
	case unfinished:
		return null, isUnfinished
	case words:
		v, ok := t.spelling.Value(c, x.text, false)
		if !ok {
			return null, csvtable.Misspelt(c.Type, x.text)
		}
		return v, ""
	case truth:
		if c.Type != value.Boolean {
			return null, isTruth
		}
		v, err := value.Parse(value.Boolean, x.text)
		if err != nil {
			return null, csvtable.Misspelt(c.Type, "")
		}
		return v, ""
	case moment:
		v, ok := iso(x.text)
		if !ok {
			return null, csvtable.Misspelt(c.Type, "")
		}
		return ofMoment(c.Type, value.DayOf(v.Int), value.TimeOf(v.Int), false)
	}
	if x.format != dated {
		return ofNumber(c, x)
	}
	days, micros, ok := split(x.text)
	if ok && c.Type == value.Time && days == 0 {
		return value.Value{Type: value.Time, Int: micros}, ""
	}
	day, exists := t.epoch.day(days)
	if !ok || !exists {
		return null, isNoDay
	}
	return ofMoment(c.Type, day, micros, true)
}

// ofMoment returns a day with a time as a value of a type.
func ofMoment(t value.Type, day, micros int64, serial bool) (value.Value, string) {
	switch t {
	case value.Date:
		if micros != 0 {
			return value.NullOf(t), isOfDay
		}
		return value.OfDay(day), ""
	case value.Timestamp:
		return value.OfMicro(day*value.DayMicros + micros), ""
	case value.Time:
		if serial {
			return value.NullOf(t), isNoTime
		}
	default:
	}
	return value.NullOf(t), isDate
}

// ofNumber returns a number without a date format as a value of a column.
func ofNumber(c *policy.Column, x cell) (value.Value, string) {
	text := x.text
	switch c.Type {
	case value.Date, value.Timestamp, value.Time:
		return value.NullOf(c.Type), isNoDate
	case value.Text:
		digits, ok := whole(text)
		if !ok || x.format != plain {
			return value.NullOf(c.Type), isNumber
		}
		return value.OfText(digits), ""
	case value.Integer:
		if digits, ok := whole(text); ok {
			text = digits
		}
	default:
	}
	v, err := value.Parse(c.Type, text)
	if err != nil {
		return value.NullOf(c.Type), csvtable.Misspelt(c.Type, text)
	}
	return v, ""
}
