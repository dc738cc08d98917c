package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"

	"dither/internal/entropy"
	"dither/internal/policy"
	"dither/internal/value"
)

// HoldoutKey is the name of the file in a home that has the key of holdouts, in hexadecimal. It never leaves the home.
const HoldoutKey = "holdout.key"

// holdoutKeyBytes is the length of the key.
const holdoutKeyBytes = 32

// holdout sets the values of the columns that hold units out. No source has these columns.
//
// Claim: all rows of a unit are held out, or none is. A condition on such a column changes no sensitivity, and holding
// out lets no unit affect the rows of another. Proof. If a column identifies the unit, the value is a function h of the
// home's key, the declared share and the unit's identifier: whether the first 64 bits of HMAC-SHA-256(key, identifier)
// are below the share of 2⁶⁴. The rows of a unit have equal identifiers, so they have equal values, in all tables of
// the home whose units have the same type. If each row is a unit, the value is the same function of the row's own
// values. In both cases the value is a pure function of one row, and the key, the share and the type are the same for
// neighbouring tables. So removing or changing a unit changes the values of its own rows alone. A statement with a
// condition on the column is a statement of the kernel with a condition on a row's values, whose bounds hold for any
// such condition: a unit that is not selected adds no rows, and one that is selected adds at most those that it adds
// without the condition. ∎
//
// Without the key, the values of units are computationally indistinguishable from independent draws, so nobody outside
// can choose who is held out. Rows whose unit is NULL are not held out. No question reads them.
type holdout struct {
	at        int   // the column
	of        []int // the source's columns that decide: that of the unit, or all if each row is a unit
	key       []byte
	threshold uint64
	all       bool // the share is 100 %
	rowIsUnit bool
	buffer    []value.Value // a row of the source
	deciding  []value.Value
}

// newHoldout returns the holdout of a table; nil if it has none.
func newHoldout(home string, t *policy.Table) (*holdout, error) {
	at := slices.IndexFunc(t.Columns, func(c *policy.Column) bool { return c.Holdout != nil })
	if at < 0 {
		return nil, nil
	}
	key, err := holdoutKey(home)
	if err != nil {
		return nil, err
	}
	out := &holdout{at: at, key: key, rowIsUnit: t.Unit.IsRow(), buffer: make([]value.Value, len(t.SourceColumns()))}
	deciding := t.HoldoutColumns()
	for i, c := range t.SourceColumns() {
		if slices.Contains(deciding, c) {
			out.of = append(out.of, i)
		}
	}
	out.deciding = make([]value.Value, len(out.of))
	limit := new(big.Int).Lsh(t.Columns[at].Holdout.Num(), 64)
	if limit.Quo(limit, t.Columns[at].Holdout.Denom()); limit.IsUint64() {
		out.threshold = limit.Uint64()
	} else {
		out.all = true
	}
	return out, nil
}

// read reads a row of the source, and sets the whole row.
func (h *holdout) read(in decoding, row []value.Value) error {
	if err := in.Read(h.buffer); err != nil {
		return err
	}
	copy(row[:h.at], h.buffer[:h.at])
	copy(row[h.at+1:], h.buffer[h.at:])
	for i, k := range h.of {
		h.deciding[i] = h.buffer[k]
	}
	row[h.at] = value.Value{Type: value.Boolean, Bool: h.held(h.deciding)}
	return nil
}

// held reports whether the unit of a row is held out, of which it gets the values of policy.Table.HoldoutColumns. Several
// goroutines may call it.
func (h *holdout) held(unit []value.Value) bool {
	if !h.rowIsUnit && unit[0].Null {
		return false
	}
	mac := hmac.New(sha256.New, h.key)
	for i := range unit {
		mac.Write(encoded(&unit[i]))
	}
	return h.all || binary.BigEndian.Uint64(mac.Sum(nil)) < h.threshold
}

// encoded returns different bytes for different values, none a prefix of another one's.
func encoded(v *value.Value) []byte {
	switch {
	case v.Null:
		return []byte{0}
	case v.Type == value.Text:
		return append(binary.BigEndian.AppendUint64([]byte{1}, uint64(len(v.Text))), v.Text...)
	case v.Type == value.Real:
		x := v.Real
		if x == 0 {
			x = 0 // −0 is 0
		}
		if math.IsNaN(x) {
			x = math.NaN() // one of the many
		}
		return binary.BigEndian.AppendUint64([]byte{2}, math.Float64bits(x))
	case v.Type == value.Boolean && v.Bool:
		return []byte{3}
	case v.Type == value.Boolean:
		return []byte{4}
	}
	return binary.BigEndian.AppendUint64([]byte{5}, uint64(v.Int))
}

// holdoutKey returns the key of a home, and makes one if there is none.
func holdoutKey(home string) ([]byte, error) {
	name := filepath.Join(home, HoldoutKey)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeHoldoutKey(name); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("making the key of holdouts: %w", err)
		}
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key of holdouts: %w", err)
	}
	key, err := hex.DecodeString(string(text))
	if err != nil || len(key) != holdoutKeyBytes {
		return nil, fmt.Errorf("%s is damaged: restore it, because another key would hold out other persons", name)
	}
	return key, nil
}

// makeHoldoutKey writes a new key. The file appears complete, or not at all. An existing one is never replaced.
func makeHoldoutKey(name string) error {
	source := entropy.System()
	defer source.Wipe()
	key := make([]byte, 0, holdoutKeyBytes)
	for range holdoutKeyBytes / 8 {
		key = binary.BigEndian.AppendUint64(key, source.Uint64())
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".holdout-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // the link stays
	_, err = f.WriteString(hex.EncodeToString(key))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), name); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
