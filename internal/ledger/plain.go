package ledger

import (
	"bytes"
	"encoding/json"
	"time"
)

// The values of a large release are one long JSON text of plain characters. These functions encode and decode the rest
// of its line with the general JSON code, and copy the text. They give what the general code gives, and are many times
// as fast.

const (
	// plainFrom is the least length of values that are encoded and decoded apart from their line.
	plainFrom = 1 << 12
	// valuesKey and lineEnd stand around the content of such a text.
	valuesKey = `"values":"`
	lineEnd   = `"}}`
)

// noValues is the empty JSON text, which stands for the long one meanwhile.
var noValues = json.RawMessage(`""`)

// plain reports whether every byte is a printable ASCII character other than the quote and the backslash, so that JSON
// texts hold the byte as it is.
func plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// encodePlain is encodeLine for the entry of a release or a step whose values are a long text of plain characters. For
// another body, ok is false.
func encodePlain(index uint64, prev Hash, at time.Time, body Body) (line []byte, ok bool) {
	values, empty := withValues(body, noValues)
	n := len(values) - 1
	if n <= plainFrom || values[0] != '"' || values[n] != '"' || !plain(values[1:n]) {
		return nil, false
	}
	short, err := encodeWhole(index, prev, at, empty)
	if err != nil || !bytes.HasSuffix(short, []byte(valuesKey+lineEnd)) {
		return nil, false
	}
	line = make([]byte, 0, len(short)+n)
	line = append(line, short[:len(short)-len(lineEnd)]...)
	return append(append(line, values[1:n]...), lineEnd...), true
}

// withValues returns the values of a release or a step, and the body with other values. It returns nil for another
// body.
func withValues(body Body, other json.RawMessage) (values json.RawMessage, with Body) {
	switch b := body.(type) {
	case Release:
		values, b.Values = b.Values, other
		return values, b
	case Step:
		values, b.Values = b.Values, other
		return values, b
	}
	return nil, nil
}

// decodePlain is decodeLine for a line that ends with a long text of plain characters as the values of a release or a
// step. For another line, and for a line that decodeLine may refuse, ok is false.
//
// Claim: if ok is true, decodeLine returns the same entry. Proof. Let short be the line without the content c of its
// last text, which begins after the key. In short, the content is empty, decodeWhole accepts it, and its values are the
// empty text. Short is JSON, so the last quote of valuesKey opens a text: the quote after the letters of valuesKey ends
// a text, as letters outside a text are no JSON. Plain characters end no text, so the line has the tokens of short, but
// for this one. It is JSON, and every check of decodeWhole but those of the text's content has the same outcome. The
// text is the last token before two closing braces, so it is a value of the innermost object, which is the body: no
// other value of a line's frame may be an object. Its key ends with "values", and the only such key of a release or a
// step is its values. ∎
func decodePlain(line []byte) (e Entry, ok bool) {
	rest, ok := bytes.CutSuffix(line, []byte(lineEnd))
	if !ok || len(rest) < plainFrom {
		return e, false
	}
	at := bytes.LastIndexByte(rest, '"') + 1
	text := rest[at:]
	if len(text) < plainFrom || !bytes.HasSuffix(rest[:at], []byte(valuesKey)) || !plain(text) {
		return e, false
	}
	short := append(bytes.Clone(rest[:at]), lineEnd...)
	e, err := decodeWhole(short)
	if err != nil {
		return e, false
	}
	whole := make(json.RawMessage, 0, len(text)+2)
	whole = append(append(append(whole, '"'), text...), '"')
	values, body := withValues(e.Body, whole)
	if !bytes.Equal(values, noValues) {
		return e, false
	}
	e.Body = body
	return e, true
}
