package ledger

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// unmarshalStrict reads one JSON value into *v and refuses whatever marshal would not have written for its type: a key
// that is unknown, missing, repeated or in another case, and null. The text of a json.RawMessage is not looked into.
//
// encoding/json alone takes the last of repeated keys and matches keys without their case: two readers could see two
// different losses in one line, under one hash.
func unmarshalStrict(data []byte, v any) error {
	if err := checkShape(data, reflect.TypeOf(v).Elem()); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return errors.New("a value of the wrong type") // the cause may quote the value
	}
	return nil
}

var (
	rawMessage = reflect.TypeFor[json.RawMessage]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonReader = reflect.TypeFor[json.Unmarshaler]()
)

func checkShape(data []byte, t reflect.Type) error {
	if t == rawMessage {
		return nil
	}
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		return errors.New("a value is null")
	}
	if p := reflect.PointerTo(t); p.Implements(textReader) || p.Implements(jsonReader) {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return checkStruct(data, t)
	case reflect.Slice:
		return checkSlice(data, t.Elem())
	case reflect.Map:
		_, err := members(data)
		return err
	default:
		return nil
	}
}

func checkStruct(data []byte, t reflect.Type) error {
	have, err := members(data)
	if err != nil {
		return err
	}
	for i := range t.NumField() {
		key := t.Field(i).Tag.Get("json")
		value, ok := have[key]
		if !ok {
			return fmt.Errorf("%q is missing", key)
		}
		if err := checkShape(value, t.Field(i).Type); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	if len(have) != t.NumField() {
		return errors.New("an unknown key")
	}
	return nil
}

func checkSlice(data []byte, elem reflect.Type) error {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return errors.New("not a list")
	}
	for _, item := range items {
		if err := checkShape(item, elem); err != nil {
			return err
		}
	}
	return nil
}

// members splits an object, refusing a key that stands in it twice.
func members(data []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	out := make(map[string]json.RawMessage)
	for dec.More() {
		t, err := dec.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, errors.New("not an object")
		}
		if _, twice := out[key]; twice {
			return nil, errors.New("a key is repeated")
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, errors.New("not an object")
		}
		out[key] = value
	}
	return out, nil
}
