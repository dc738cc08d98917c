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

// keptValues is a file beside a sealed version with the values of a public table's column. It saves a process that
// explains or replays a question from starting an engine. The file is ignored, and the values are read again,
// unless three digests match: that of the version in the ledger, that of the column's present declaration, and that
// of the values themselves. The declaration matters because bounds and declared values decide how a column is
// cleaned, and may change while the version stays.
type keptValues struct {
	Format   int    `json:"format"`
	Of       string `json:"of"` // the digest of the sealed version
	Column   string `json:"column"`
	Declared string `json:"declared"` // a digest of its type, bounds and values
	SHA256   string `json:"sha256"`   // the digest of Values, as encoded
	// an array of strings for text; else of integers, with dates as days and booleans as 0 and 1
	Values json.RawMessage `json:"values"`
}

const (
	keptFormat   = 2
	maxKeptBytes = 64 << 20 // enough for 10,000 texts of 4096 bytes
)

// keptFile returns the path of the file for a version's column.
func keptFile(v seal.Version, column string) string {
	sum := sha256.Sum256([]byte(column))
	return strings.TrimSuffix(v.File, filepath.Ext(v.File)) + ".values-" + hex.EncodeToString(sum[:6]) + ".json"
}

// kept returns the values in the file (see keptValues), and whether the file exists and fits the version and the
// column.
func kept(v seal.Version, c *policy.Column) ([]value.Value, bool) {
	if v.Live || v.File == "" { // for a live table, these values are not used
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
		case value.Date, value.Timestamp, value.Time:
			out = append(out, value.Value{Type: c.Type, Int: n})
		case value.Boolean:
			out = append(out, value.OfBool(n == 1))
		default:
			return nil, false
		}
	}
	return out, true
}

// keep writes the file. It ignores errors: without the file, the values are read again.
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

// declared returns a digest of the parts of a column's declaration that decide how it is cleaned.
func declared(c *policy.Column) string {
	return digestOf(fmt.Appendf(nil, "%s %v %v %q", c.Type, c.Lower, c.Upper, c.Values))
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
