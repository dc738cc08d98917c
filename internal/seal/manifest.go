package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dither/internal/policy"
)

// manifestFormat is the newest format of manifest.json that this program reads. A manifest is written in the lowest
// format that can express it. Format 2 is needed if a version was removed, if it records how many rows of one unit
// it keeps, or if it counts the rows that refer to one row.
const manifestFormat = 2

// maxManifestBytes is the largest size of a manifest that is read.
const maxManifestBytes = 64 << 20

// Version is one published version of a table.
type Version struct {
	Table        string
	Number       int    // 1, 2, …
	File         string // the absolute path of its file: Parquet, or JSON for a live version
	SHA256       string
	Bytes        int64
	Rows         int64     // an exact count, for the owner only
	Sealed       time.Time // UTC, to the second
	Schema       string    // the digest of the declaration that it was sealed under
	SourceSHA256 string    // the digest of the source file's bytes; for several files, the digest of their digests
	SourceFiles  []string  // for several files, the SHA-256 of each
	SourceBytes  int64
	Facts        Facts // exact counts, for the owner only
	Stored       int64 // the largest number of rows of one unit that were sealed; 0 if unbounded
	// Live means that questions read the source itself. File then holds what sealing found, and no rows. The
	// following fields are the server's identities of the table, as in [Found].
	Live          bool
	Relation      string
	Family, Shows []string
	Copy          *Copy // the copy that questions read instead of the source, if there is one
	Removed       bool  // the owner removed the file. The number and the digest stay
}

// storedOf returns the largest number of rows of one unit that a new version of t keeps; 0 if the table has no
// column that identifies a unit.
func storedOf(t *policy.Table) int64 {
	if t.Public || t.Unit.Column == "" {
		return 0
	}
	return t.Stored()
}

// holds reports whether the version has every row that t's bound keeps of each unit: the rows with the lowest ranks,
// which number the rows of one unit. The version may have more rows, which statements then leave out.
func (v Version) holds(t *policy.Table) bool {
	return v.Facts.RowsLeftOut == 0 || v.Stored >= storedOf(t)
}

// Bounds returns bounds on the rows of one unit in a version of t. t is nil if the policy no longer has the table;
// then all are 0. mostRows is the largest number of rows of one unit that questions read. mostPerKey is the largest
// number of rows that refer to one row, for a table whose unit is found through a reference; 0 if it was not
// recorded.
//
// The plan relies only on the policy's bound (cost.Cost). A version that was sealed before that bound, or under
// another one, may have units with more rows. Then stored is the bound, and each statement leaves out the rows whose
// rank is above it. (A rank numbers the rows of one unit.) If no unit has more rows, stored is 0, and a statement
// leaves out none. Either way, a question reads the rows that it would read in a version sealed under today's bound.
func (v Version) Bounds(t *policy.Table) (mostRows, mostPerKey, stored int64) {
	if t == nil || t.Public {
		return 0, 0, 0
	}
	if t.Unit.Column == "" {
		return 0, v.Facts.MaxRowsPerKey, 0
	}
	if v.Facts.MaxRowsPerUnit > t.Stored() {
		return t.Stored(), v.Facts.MaxRowsPerKey, t.Stored()
	}
	return v.Facts.MaxRowsPerUnit, v.Facts.MaxRowsPerKey, 0
}

type manifestJSON struct {
	Format   int           `json:"format"`
	Table    string        `json:"table"`
	Versions []versionJSON `json:"versions"` // in rising order of their numbers
}

type versionJSON struct {
	Number       int       `json:"number"`
	File         string    `json:"file"` // the name within the table's folder
	SHA256       string    `json:"sha256"`
	Bytes        int64     `json:"bytes"`
	Rows         int64     `json:"rows"`
	Sealed       time.Time `json:"sealed"`
	Schema       string    `json:"schema"`
	SourceSHA256 string    `json:"source_sha256"`
	SourceFiles  []string  `json:"source_files,omitempty"`
	SourceBytes  int64     `json:"source_bytes"`
	Facts        Facts     `json:"facts"`
	Stored       int64     `json:"stored_rows_per_unit,omitempty"`
	Live         bool      `json:"live,omitempty"`
	Relation     string    `json:"relation,omitempty"`
	Family       []string  `json:"family,omitempty"`
	Shows        []string  `json:"shows,omitempty"`
	Copy         *Copy     `json:"copy,omitempty"`
	Removed      bool      `json:"removed,omitempty"`
}

// folderOf returns the folder of a table's versions. A table's name may be any text. So the folder's name consists
// of the plain letters of the table's name, and a digest of the whole name.
func folderOf(home, table string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, strings.ToLower(table))
	sum := sha256.Sum256([]byte(table))
	return filepath.Join(home, "sealed", plain[:min(len(plain), 40)]+"-"+hex.EncodeToString(sum[:6]))
}

func versionFile(number int, live bool) string {
	if live {
		return "v" + strconv.Itoa(number) + ".json"
	}
	return "v" + strconv.Itoa(number) + ".parquet"
}

// readManifest returns the published versions of a table, the oldest first. Without a manifest it returns none.
func readManifest(folder, table string) ([]Version, error) {
	path := filepath.Join(folder, "manifest.json")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxManifestBytes))
	if err != nil {
		return nil, err
	}
	versions, err := decodeManifest(text, folder, table)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return versions, nil
}

func decodeManifest(text []byte, folder, table string) ([]Version, error) {
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("the manifest is damaged: %w", err)
	}
	if head.Format > manifestFormat {
		return nil, fmt.Errorf("the manifest has format %d; this program reads %d: use a newer one",
			head.Format, manifestFormat)
	}
	var m manifestJSON
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&m); err != nil {
		return nil, fmt.Errorf("the manifest is damaged: %w", err)
	}
	if _, err := strict.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the manifest is damaged: text after its end")
	}
	if m.Format < 1 || m.Table != table {
		return nil, fmt.Errorf("the manifest is damaged: format %d of table %q", m.Format, m.Table)
	}
	versions := make([]Version, len(m.Versions))
	for i, v := range m.Versions {
		if v.Number < 1 || i > 0 && v.Number <= m.Versions[i-1].Number || v.File != versionFile(v.Number, v.Live) ||
			v.Removed && (m.Format < 2 || i == len(m.Versions)-1) {
			return nil, fmt.Errorf("the manifest is damaged: version %d, file %q", v.Number, v.File)
		}
		versions[i] = Version{
			Table:  table,
			Number: v.Number,
			File:   filepath.Join(folder, v.File),
			SHA256: v.SHA256,
			Bytes:  v.Bytes,
			Rows:   v.Rows,
			Sealed: v.Sealed, Stored: v.Stored,
			Schema:       v.Schema,
			SourceSHA256: v.SourceSHA256,
			SourceFiles:  v.SourceFiles,
			SourceBytes:  v.SourceBytes,
			Facts:        v.Facts,
			Live:         v.Live,
			Relation:     v.Relation,
			Family:       v.Family,
			Shows:        v.Shows,
			Copy:         v.Copy,
			Removed:      v.Removed,
		}
	}
	return versions, nil
}

func encodeManifest(table string, versions []Version) ([]byte, error) {
	m := manifestJSON{Format: 1, Table: table}
	for _, v := range versions {
		if v.Removed || v.Stored > 0 || v.Facts.MaxRowsPerKey > 0 {
			m.Format = 2
		}
		m.Versions = append(m.Versions, versionJSON{
			Number: v.Number,
			File:   versionFile(v.Number, v.Live),
			SHA256: v.SHA256,
			Bytes:  v.Bytes,
			Rows:   v.Rows,
			Sealed: v.Sealed,
			Schema: v.Schema, Stored: v.Stored,
			SourceSHA256: v.SourceSHA256,
			SourceFiles:  v.SourceFiles,
			SourceBytes:  v.SourceBytes,
			Facts:        v.Facts,
			Live:         v.Live,
			Relation:     v.Relation,
			Family:       v.Family,
			Shows:        v.Shows,
			Copy:         v.Copy,
			Removed:      v.Removed,
		})
	}
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

// schemaDigest returns a digest of the parts of a declaration that a sealed file depends on. These are the source
// and how it is read, the columns with their types and nullability, and the unit. It excludes bounds, declared
// values, limits on rows and groups, and descriptions, which questions apply. If the number of units is declared, it
// includes that, and the values of columns that are not nullable, because sealing checks both. So whether a version fits
// a declaration never depends on its rows.
func schemaDigest(t *policy.Table) string {
	type column struct {
		Name, Type string
		Nullable   bool
		Invalid    policy.Invalid
		Trim       bool     `json:",omitempty"`
		Case       string   `json:",omitempty"`
		Zone       string   `json:",omitempty"`
		Holdout    string   `json:",omitempty"`
		Values     []string `json:",omitempty"`
	}
	columns := make([]column, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = column{c.Name, c.Type.String(), c.Nullable, c.Invalid, c.Trim, c.Case, "", "", nil}
		if c.Zone != nil {
			columns[i].Zone = c.Zone.String()
		}
		if c.Holdout != nil {
			columns[i].Holdout = c.Holdout.RatString()
		}
		if t.Units > 0 && !c.Nullable { // sealing has checked that each row has one of them
			for _, v := range c.Values {
				columns[i].Values = append(columns[i].Values, v.String())
			}
			slices.Sort(columns[i].Values)
		}
	}
	d := t.Source.Dialect
	if t.Source.Format != policy.CSV && t.Source.Format != policy.XLSX {
		d = policy.Dialect{}
	}
	text, err := json.Marshal(struct {
		Format      policy.Format
		Path, Inner string
		Dialect     policy.Dialect
		Public      bool
		Unit        string
		Columns     []column
		Schema      string `json:",omitempty"`
		Units       int64  `json:",omitempty"`
	}{t.Source.Format, t.Source.Path, t.Source.Table, d, t.Public, t.Unit.Column, columns, t.Source.Schema, t.Units})
	if err != nil {
		panic(err) // cannot happen for strings, numbers and booleans
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
