package release

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// keptValues are the values of a public table's column, written beside the sealed version that they were read from, so
// that a process which explains or replays a question needs no engine for them. Where they do not fit the version that
// the ledger recorded, the column as it is declared now (bounds and values decide how it is cleaned, and may change
// while the version stays), or their own digest, they are read again.
type keptValues struct {
	Format   int             `json:"format"`
	Of       string          `json:"of"` // the digest of the sealed version
	Column   string          `json:"column"`
	Declared string          `json:"declared"` // a digest of its type, bounds and values
	SHA256   string          `json:"sha256"`   // of Values as they stand
	Values   json.RawMessage `json:"values"`   // texts; or integers, days, and 0 and 1
}

const (
	keptFormat   = 2
	maxKeptBytes = 64 << 20 // of 10,000 texts of 4096 bytes
)

// keptFile is where they are.
func keptFile(v seal.Version, column string) string {
	sum := sha256.Sum256([]byte(column))
	return strings.TrimSuffix(v.File, filepath.Ext(v.File)) + ".values-" + hex.EncodeToString(sum[:6]) + ".json"
}

// kept are the values that were written; false where there are none that fit.
func kept(v seal.Version, c *policy.Column) ([]value.Value, bool) {
	if v.Live || v.File == "" { // what a server holds is asked there
		return nil, false
	}
	f, err := os.Open(keptFile(v, c.Name))
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxKeptBytes))
	if err != nil {
		return nil, false
	}
	var k keptValues
	if json.Unmarshal(text, &k) != nil || k.Format != keptFormat || k.Of != v.SHA256 || k.Column != c.Name ||
		k.Declared != declared(c) ||
		k.SHA256 != digestOf(k.Values) {
		return nil, false
	}
	var out []value.Value
	if c.Type == value.Text {
		var texts []string
		if json.Unmarshal(k.Values, &texts) != nil {
			return nil, false
		}
		for _, s := range texts {
			out = append(out, value.OfText(s))
		}
		return out, true
	}
	var numbers []int64
	if json.Unmarshal(k.Values, &numbers) != nil {
		return nil, false
	}
	for _, n := range numbers {
		switch c.Type {
		case value.Integer:
			out = append(out, value.OfInt(n))
		case value.Date:
			out = append(out, value.OfDay(n))
		case value.Boolean:
			out = append(out, value.OfBool(n == 1))
		default:
			return nil, false
		}
	}
	return out, true
}

// keep writes them. Nothing depends on it: what cannot be written is read again.
func keep(v seal.Version, c *policy.Column, values []value.Value) {
	if v.Live || v.File == "" || c.Type == value.Real {
		return
	}
	texts, numbers := []string{}, []int64{}
	for _, x := range values {
		switch {
		case x.Null || x.Type != c.Type || !utf8.ValidString(x.Text):
			return
		case c.Type == value.Boolean && x.Bool:
			numbers = append(numbers, 1)
		default:
			texts, numbers = append(texts, x.Text), append(numbers, x.Int)
		}
	}
	var list any = numbers
	if c.Type == value.Text {
		list = texts
	}
	body, err := json.Marshal(list)
	if err != nil {
		return
	}
	text, err := json.Marshal(keptValues{keptFormat, v.SHA256, c.Name, declared(c), digestOf(body), body})
	if err != nil {
		return
	}
	path := keptFile(v, c.Name)
	f, err := os.CreateTemp(filepath.Dir(path), ".sealing-values-*")
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if closing := f.Close(); err != nil || closing != nil || os.Rename(f.Name(), path) != nil {
		_ = os.Remove(f.Name())
	}
}

// declared names what cleaning goes by.
func declared(c *policy.Column) string {
	return digestOf(fmt.Appendf(nil, "%s %v %v %q", c.Type, c.Lower, c.Upper, c.Values))
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
