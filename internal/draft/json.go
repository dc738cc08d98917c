package draft

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"dither/internal/jsonlines"
	"dither/internal/policy"
	"dither/internal/value"
)

// sketchJSON returns the keys of a file's first objects, in order of first appearance, each with a type that fits
// all values seen. It returns the keys that hold lists or objects as skipped. It is lenient, unlike sealing.
func sketchJSON(src policy.Source) (columns []policy.SketchColumn, skipped []string, err error) {
	var header []string
	kinds := map[string][]value.Type{}
	err = withText(src, func(in io.Reader) error {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, jsonlines.MaxLineBytes)
		for n := 0; n < sketchedObjects && lines.Scan(); n++ {
			d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff"))))
			d.UseNumber()
			if token, err := d.Token(); err != nil || token != json.Delim('{') {
				return &Error{Message: fmt.Sprintf("line %d of %s is not a JSON object", n+1, src.File)}
			}
			for d.More() {
				var found any
				token, err := d.Token()
				if err == nil {
					err = d.Decode(&found)
				}
				key, _ := token.(string)
				if err != nil {
					return &Error{Message: fmt.Sprintf("line %d of %s is not JSON", n+1, src.File)}
				}
				if !slices.Contains(header, key) {
					header = append(header, key)
				}
				if t := typeOf(found); found != nil && !slices.Contains(kinds[key], t) {
					kinds[key] = append(kinds[key], t)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(header) == 0 {
		return nil, nil, fmt.Errorf("%s has no object to draft a policy from", src.File)
	}
	for _, key := range header {
		switch {
		case policy.CheckName(key) != "": // a name that no policy can hold
		case slices.Contains(kinds[key], 0):
			skipped = append(skipped, key)
		default:
			columns = append(columns, policy.SketchColumn{Name: key, Type: common(kinds[key])})
		}
	}
	return columns, skipped, nil
}

// sketchedObjects is the number of objects that a sketch reads.
const sketchedObjects = 1000

// typeOf returns the type that fits a JSON value, or 0 for null, lists and objects.
func typeOf(found any) value.Type {
	switch x := found.(type) {
	case bool:
		return value.Boolean
	case json.Number:
		if _, err := value.Parse(value.Integer, x.String()); err == nil {
			return value.Integer
		}
		return value.Real
	case string:
		if _, err := value.Parse(value.Date, x); err == nil {
			return value.Date
		}
		if _, err := value.ParseIn(value.Timestamp, x, nil); err == nil {
			return value.Timestamp
		}
		return value.Text
	}
	return 0
}

// common returns a type that fits values of all given types: text if no other type fits.
func common(kinds []value.Type) value.Type {
	switch {
	case len(kinds) == 1:
		return kinds[0]
	case len(kinds) == 2 && slices.Contains(kinds, value.Integer) && slices.Contains(kinds, value.Real):
		return value.Real
	}
	return value.Text
}
