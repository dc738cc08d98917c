package csvtable

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// scanner splits a stream into records. After next, record holds the contents of the fields one after the other,
// without quotes, each followed by a separator byte. fields holds their positions.
type scanner struct {
	in               *bufio.Reader
	delimiter, quote byte   // quote is 0 if there is no quoting
	encoding         string // the declared encoding, for messages; "" if none is declared
	record           []byte
	fields           []field
	line             int64 // the next line, from 1
	began            int64 // the line on which the record begins
}

type field struct {
	start, end int
	quoted     bool
}

// States of the scanner within a record.
const (
	atField  = iota // before the first byte of a field
	inPlain         // in an unquoted field
	inQuotes        // in a quoted field
	atQuote         // in a quoted field, after a quote that either closes the field or is doubled
)

// next reads one record. It returns io.EOF if there is none. For a fault of the file it returns an *Error without a
// row.
func (s *scanner) next() error {
	s.record, s.fields, s.began = s.record[:0], s.fields[:0], s.line
	state, size, opened := atField, 0, s.line
	var start int
	for {
		chunk, err := s.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return &Error{Line: s.line, Message: "reading the file failed: " + err.Error(), Err: err}
		}
		if len(chunk) > 0 && chunk[len(chunk)-1] == '\r' && err != nil && !errors.Is(err, io.EOF) {
			if unread := s.in.UnreadByte(); unread == nil { // the end of the buffer would separate CR and LF
				chunk = chunk[:len(chunk)-1]
			}
		}
		if size += len(chunk); size > MaxRecordBytes {
			if state == inQuotes {
				return &Error{
					Line: opened,
					Message: fmt.Sprintf("the quoted field that opens here does not close within %d bytes",
						MaxRecordBytes),
				}
			}
			return &Error{Line: s.began, Message: fmt.Sprintf("the record is longer than %d bytes", MaxRecordBytes)}
		}
		body, ended := chunk, false
		if n := len(chunk); n > 0 && chunk[n-1] == '\n' {
			body, ended = chunk[:n-1], true
		}
		if ended && state == atField && len(s.fields) == 0 && (len(body) == 0 || string(body) == "\r") {
			return s.emptyLine()
		}
		for i := 0; i < len(body); {
			c := body[i]
			switch state {
			case atField:
				start = len(s.record)
				if c == s.quote && c != 0 {
					state, opened = inQuotes, s.line
					i++
					continue
				}
				state = inPlain
				fallthrough
			case inPlain:
				n := s.plain(body[i:])
				s.record = append(s.record, body[i:i+n]...)
				if i += n; i == len(body) {
					break
				}
				switch c = body[i]; {
				case c == s.delimiter:
					s.endField(start, false)
					state = atField
				case c == '\r' && ended && i == len(body)-1:
				case c == '\r':
					return &Error{Line: s.line, Message: "a carriage return without a line feed after it"}
				default:
					return &Error{Line: s.line, Message: "a quote inside a field that does not begin with one"}
				}
				i++
			case inQuotes:
				n := bytes.IndexByte(body[i:], s.quote)
				if n < 0 {
					n = len(body) - i
				}
				s.record = append(s.record, body[i:i+n]...)
				if i += n; i < len(body) {
					state = atQuote
					i++
				}
			case atQuote:
				switch {
				case c == s.quote:
					s.record = append(s.record, c)
					state = inQuotes
				case c == s.delimiter:
					s.endField(start, true)
					state = atField
				case c == '\r' && ended && i == len(body)-1:
				default:
					return &Error{Line: s.line, Message: "text after the quote that closes a field"}
				}
				i++
			}
		}
		if ended {
			s.line++
			if state == inQuotes {
				s.record = append(s.record, '\n')
				continue
			}
		} else if !errors.Is(err, io.EOF) {
			continue
		}
		switch state {
		case inQuotes:
			return &Error{Line: opened, Message: "the quoted field that opens here never closes"}
		case atField:
			if !ended && size == 0 {
				return io.EOF
			}
			start = len(s.record)
		}
		s.endField(start, state == atQuote)
		return s.check()
	}
}

// plain returns the number of bytes before the first delimiter, CR or quote.
func (s *scanner) plain(b []byte) int {
	for i, c := range b {
		if c == s.delimiter || c == '\r' || c == s.quote && c != 0 {
			return i
		}
	}
	return len(b)
}

func (s *scanner) endField(start int, quoted bool) {
	s.fields = append(s.fields, field{start, len(s.record), quoted})
	s.record = append(s.record, '\n') // a separator, so that bytes of two fields cannot form one valid character
}

// emptyLine skips an empty line at the end of the file. It returns an error for any other empty line.
func (s *scanner) emptyLine() error {
	at := s.line
	s.line++
	if _, err := s.in.Peek(1); errors.Is(err, io.EOF) {
		return io.EOF
	}
	return &Error{Line: at, Message: "the line is empty, and it is not the last line of the file"}
}

// check returns an error if the record contains NUL or invalid UTF-8.
func (s *scanner) check() error {
	if bytes.IndexByte(s.record, 0) >= 0 {
		return &Error{Line: s.began, Message: "a NUL byte"}
	}
	if !utf8.Valid(s.record) {
		message := "a byte that is not valid in " + s.encoding
		if s.encoding == "" {
			message = "invalid UTF-8: save the file as UTF-8, or declare source: {encoding: windows-1252} if it has that encoding"
		}
		return &Error{Line: s.began, Message: message}
	}
	return nil
}

// texts returns the record's fields as strings.
func (s *scanner) texts() []string {
	texts := make([]string, len(s.fields))
	for i, f := range s.fields {
		texts[i] = string(s.record[f.start:f.end])
	}
	return texts
}
