package ledger

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"dither/privacy"
)

// shape describes the JSON that marshal writes for a type.
//
// encoding/json uses the last of repeated keys, ignores the case of keys, and leaves missing fields at zero. So two
// readers could see two different losses in one line with one hash. Checking the shape first rules that out.
type shape struct {
	any    bool              // for a json.RawMessage or a type that checks itself: any value is accepted
	fields map[string]*shape // key → shape, for a struct; otherwise nil
	elem   *shape            // shape of the elements of a list or map; otherwise nil

	required int // number of keys that are not optional
	optional map[string]bool
}

var (
	rawMessage = reflect.TypeFor[json.RawMessage]()
	lossType   = reflect.TypeFor[privacy.Loss]() // its decoder is strict itself
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonReader = reflect.TypeFor[json.Unmarshaler]()
)

// shapeOf returns the shape of a type.
func shapeOf(t reflect.Type) *shape {
	p := reflect.PointerTo(t)
	switch {
	case t == rawMessage, t == lossType:
		return &shape{any: true}
	case p.Implements(textReader), p.Implements(jsonReader):
		return &shape{}
	case t.Kind() == reflect.Pointer:
		return shapeOf(t.Elem())
	case t.Kind() == reflect.Struct:
		s := &shape{fields: map[string]*shape{}, optional: map[string]bool{}}
		for i := range t.NumField() {
			name, optional := strings.CutSuffix(t.Field(i).Tag.Get("json"), ",omitempty")
			s.fields[name] = shapeOf(t.Field(i).Type)
			if s.optional[name] = optional; !optional {
				s.required++
			}
		}
		return s
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		return &shape{elem: shapeOf(t.Elem())}
	default:
		return &shape{}
	}
}

// unmarshalStrict decodes valid JSON into *v, and checks it against the shape s. It refuses null, and keys that are
// unknown, missing, repeated or in another case. It does not check the content of a json.RawMessage.
func unmarshalStrict(data []byte, s *shape, v any) error {
	if err := (&walker{data: data}).value(s); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return errors.New("a value of the wrong type") // not the decoder's error, which may quote the value
	}
	return nil
}

// walker reads JSON that is known to be valid, so it does not check delimiters.
type walker struct {
	data []byte
	pos  int
}

// peek skips white space and returns the next byte without consuming it, or 0 at the end.
func (w *walker) peek() byte {
	for w.pos < len(w.data) {
		switch c := w.data[w.pos]; c {
		case ' ', '\t', '\r', '\n':
			w.pos++
		default:
			return c
		}
	}
	return 0
}

// value skips one value and checks it against s. A nil s accepts any value.
func (w *walker) value(s *shape) error {
	if s != nil && s.any {
		s = nil
	}
	switch w.peek() {
	case '{':
		return w.object(s)
	case '[':
		return w.list(s)
	case '"':
		w.text()
	case 'n':
		if s != nil {
			return errors.New("a value is null")
		}
		w.scalar()
	default:
		w.scalar()
	}
	if s != nil && (s.fields != nil || s.elem != nil) {
		return errors.New("a value of the wrong type")
	}
	return nil
}

func (w *walker) object(s *shape) error {
	var seen map[string]bool
	required := 0
	if s != nil {
		seen = make(map[string]bool, len(s.fields))
	}
	for w.pos++; w.peek() == '"'; {
		key := w.text()
		w.peek() // skip spaces before ':'
		w.pos++
		if s == nil {
			_ = w.value(nil) // the error is always nil, because there is no shape to check
			w.comma()
			continue
		}
		name, err := keyName(key)
		if err != nil || seen[name] {
			return errors.New("a key is repeated")
		}
		seen[name] = true
		if s.fields != nil && !s.optional[name] {
			required++
		}
		inner := s.elem
		if s.fields != nil {
			if inner = s.fields[name]; inner == nil {
				return errors.New("an unknown key")
			}
		}
		if inner == nil {
			return errors.New("a value of the wrong type")
		}
		if err := w.value(inner); err != nil {
			return err
		}
		w.comma()
	}
	w.pos++ // '}'
	if s != nil && required < s.required {
		return errors.New("a key is missing")
	}
	return nil
}

func (w *walker) list(s *shape) error {
	var inner *shape
	if s != nil {
		if inner = s.elem; inner == nil {
			return errors.New("a value of the wrong type")
		}
	}
	for w.pos++; w.peek() != ']' && w.pos < len(w.data); {
		if err := w.value(inner); err != nil {
			return err
		}
		w.comma()
	}
	w.pos++
	return nil
}

func (w *walker) comma() {
	if w.peek() == ',' {
		w.pos++
	}
}

// text skips a string and returns it with its quotes.
func (w *walker) text() []byte {
	start := w.pos
	for w.pos++; w.pos < len(w.data) && w.data[w.pos] != '"'; w.pos++ {
		if w.data[w.pos] == '\\' {
			w.pos++
		}
	}
	w.pos = min(w.pos+1, len(w.data))
	return w.data[start:w.pos]
}

// scalar skips a number, true, false or null.
func (w *walker) scalar() {
	for w.pos < len(w.data) {
		switch w.data[w.pos] {
		case ' ', '\t', '\r', '\n', ',', ']', '}':
			return
		}
		w.pos++
	}
}

// keyName decodes a key, so that two spellings of one key compare as equal.
func keyName(quoted []byte) (string, error) {
	if bytes.IndexByte(quoted, '\\') < 0 && len(quoted) >= 2 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	var name string
	err := json.Unmarshal(quoted, &name)
	return name, err
}
