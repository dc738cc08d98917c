package policy

import "go.yaml.in/yaml/v3"

// Field is a value in a YAML file that is no policy, but is read by the same rules: numbers are read from their text,
// and unknown keys are errors. The zero value is a missing field, whose methods return zero values.
type Field struct{ f field }

// ReadPlain parses one YAML document. Errors that the methods of fields record are returned by failed, in the file's
// order; it returns nil if there are none.
func ReadPlain(text []byte) (root Field, failed func() error) {
	r := new(reader)
	if n := r.parse(text); n != nil {
		root = Field{field{r: r, node: n}}
	}
	return root, func() error {
		if len(r.errs) == 0 {
			return nil
		}
		return r.errs.sorted()
	}
}

// Present reports whether the file has the field.
func (f Field) Present() bool { return f.f.present() }

// Listed reports whether the field is a list.
func (f Field) Listed() bool { return f.f.present() && f.f.node.Kind == yaml.SequenceNode }

// Mapped reports whether the field has keys.
func (f Field) Mapped() bool { return f.f.present() && f.f.node.Kind == yaml.MappingNode }

// Name returns the key of an entry.
func (f Field) Name() string {
	if f.f.key == nil {
		return ""
	}
	return f.f.key.Value
}

// Fail records an error at the field's value, with a hint that may be "".
func (f Field) Fail(hint, format string, args ...any) {
	if f.f.r != nil {
		f.f.fail(hint, format, args...)
	}
}

// Keys reads a mapping with the given keys, and records an error for any other key. The result has a field for each.
func (f Field) Keys(known ...string) map[string]Field {
	out := make(map[string]Field, len(known))
	if !f.Present() {
		return out
	}
	of, _ := f.f.keys(known...)
	for name, x := range of {
		out[name] = Field{x}
	}
	return out
}

// Entries returns the entries of a mapping, in the file's order.
func (f Field) Entries() []Field { return fields(f.f.entries()) }

// List returns the items of a list.
func (f Field) List() []Field {
	items, _ := f.f.list()
	return fields(items)
}

func fields(of []field) []Field {
	out := make([]Field, len(of))
	for i, x := range of {
		out[i] = Field{x}
	}
	return out
}

// Text returns the text of a scalar. ok is false if the field is missing or is no scalar.
func (f Field) Text() (text string, ok bool) { return f.f.text() }

// Count reads a whole number from 1 to most. ok is false if the field is missing or is no such number.
func (f Field) Count(most int64) (n int64, ok bool) { return f.f.count(most) }
