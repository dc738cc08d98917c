package ledger

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
)

// decodeAgain reads a line that was read before, of which the hash was kept. The hash says that it is that line, which
// was read strictly then: so it is only taken apart. A release's values, which are nearly all of a ledger, are found
// without reading what is in them.
func decodeAgain(line []byte, known Hash) (Entry, error) {
	if sha256.Sum256(line) == known {
		if e, ok := takenApart(line); ok {
			e.Hash = known
			return e, nil
		}
	}
	e, err := decodeLine(line)
	if err == nil && e.Hash != known {
		err = errors.New("the line changed after it was read")
	}
	return e, err
}

// takenApart is a reservation or a release, whose line is known to be one that decodeLine takes; ok is false of
// another.
func takenApart(line []byte) (e Entry, ok bool) {
	frame := (&walker{data: line}).fields()
	for _, of := range []struct {
		text []byte
		into any
	}{{frame["kind"], &e.Kind}, {frame["n"], &e.Index}, {frame["prev"], &e.Prev}, {frame["at"], &e.Time}} {
		if json.Unmarshal(of.text, of.into) != nil {
			return e, false
		}
	}
	switch e.Kind {
	case KindReserve:
		var out Reservation
		ok = json.Unmarshal(frame["body"], &out) == nil
		e.Body = out
	case KindRelease:
		body := (&walker{data: frame["body"]}).fields()
		out := Release{Values: body["values"]}
		ok = json.Unmarshal(body["reservation"], &out.Reservation) == nil && len(out.Values) > 0
		e.Body = out
	}
	return e, ok
}

// fields are the texts of an object's values, by its keys, of which none is repeated.
func (w *walker) fields() map[string][]byte {
	out := map[string][]byte{}
	if w.peek() != '{' {
		return out
	}
	for w.pos++; w.peek() == '"'; w.comma() {
		key, err := keyName(w.text())
		if err != nil {
			return nil
		}
		w.peek() // ':'
		w.pos++
		w.peek()
		start := w.pos
		_ = w.value(nil) // always nil
		out[key] = w.data[start:w.pos]
	}
	return out
}
