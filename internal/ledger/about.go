package ledger

import (
	"encoding/binary"
	"errors"
)

// encode returns the index's encoding of a: its texts and numbers in order, each text preceded by its length.
func (a *About) encode() []byte {
	var b []byte
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	texts := func(all []string) {
		b = binary.AppendUvarint(b, uint64(len(all)))
		for _, s := range all {
			text(s)
		}
	}
	text(a.Policy)
	b = binary.AppendUvarint(b, uint64(len(a.Sources)))
	for _, s := range a.Sources {
		text(s.Table)
		b = binary.AppendUvarint(b, uint64(s.Version))
	}
	if a.Subject != nil {
		text(a.Subject.Question)
		texts(a.Subject.Measures)
		texts(a.Subject.Conditions)
	}
	return b
}

var errAbout = errors.New("the recorded subject of an answer is unreadable")

// decodeAbout decodes the output of encode. It returns errAbout for any other data.
func decodeAbout(data []byte) (*About, error) {
	bad, all := false, string(data) // all is one string, so that every decoded text can share its memory
	number := func() uint64 {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > 1<<40 {
			bad, n, size = true, 0, 0
		}
		data, all = data[size:], all[size:]
		return n
	}
	text := func() string {
		n := number()
		if n > uint64(len(all)) {
			bad, n = true, 0
		}
		s := all[:n]
		data, all = data[n:], all[n:]
		return s
	}
	texts := func() (out []string) {
		n := number()
		if n > uint64(len(all)) {
			bad, n = true, 0
		}
		if n > 0 {
			out = make([]string, n)
		}
		for i := range out {
			out[i] = text()
		}
		return out
	}
	a := &About{Policy: text()}
	for n := number(); n > 0 && !bad; n-- {
		table := text()
		a.Sources = append(a.Sources, Source{table, int(number())})
	}
	if len(data) > 0 {
		a.Subject = &Subject{Question: text(), Measures: texts(), Conditions: texts()}
	}
	if bad || len(data) > 0 {
		return nil, errAbout
	}
	return a, nil
}
