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
	"strconv"
	"strings"
	"time"

	"dither/internal/policy"
)

// manifestFormat is the newest version of manifest.json that this program writes and reads. A manifest has the least
// version that can express it: 2 if a version was removed, or records how many rows of one unit it keeps.
const manifestFormat = 2

// maxManifestBytes bounds the bytes read of a manifest.
const maxManifestBytes = 64 << 20

// Version is one published version of a table.
type Version struct {
	Table        string
	Number       int       // 1, 2, …
	File         string    // the absolute path of its Parquet file
	SHA256       string    // of the file
	Bytes        int64     // of the file
	Rows         int64     // exact: the owner's
	Sealed       time.Time // UTC, to the second
	Schema       string    // the digest of the declaration that it was sealed under
	SourceSHA256 string    // of the source file's bytes; of several files, that of theirs
	SourceFiles  []string  // of several files, the SHA-256 of each
	SourceBytes  int64
	Facts        Facts // exact: the owner's
	Stored       int64 // the most rows of one unit that were sealed; 0 if unbounded
	// Live reports that questions read the source itself: File holds what sealing found, and no rows. The following
	// fields are the server's identity of the table, as in Found.
	Live          bool
	Relation      string
	Family, Shows []string
	Copy          *Copy // what questions read instead of the source
	Removed       bool  // the owner removed File: its number and digest stay
}

// storedOf is the most rows of a unit that a new version of t keeps; 0 if rows have no unit to count by.
func storedOf(t *policy.Table) int64 {
	if t.Public || t.Unit.Column == "" {
		return 0
	}
	return t.Stored()
}

// holds reports whether the version has every row of a unit that t's bound keeps: those of the lowest ranks. It may
// have more, which statements then leave out.
func (v Version) holds(t *policy.Table) bool {
	return v.Facts.RowsLeftOut == 0 || v.Stored >= storedOf(t)
}

// Bounds returns what bounds the rows of one unit in a version of t. t is nil if the policy no longer has the table.
// The plan relies only on the policy's bound (cost.Cost). A version from before that bound, or under another one,
// satisfies it if sealing recorded that no unit of this file has more rows (then stored is 0). Otherwise each statement
// leaves out the ranks above stored. Either way the same rows count. mostPerKey concerns rows that have their unit
// through a reference; it is 0 if nothing was recorded.
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
	Versions []versionJSON `json:"versions"` // numbers rise
}

type versionJSON struct {
	Number       int       `json:"number"`
	File         string    `json:"file"` // inside the table's folder
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

// folderOf is the folder of a table's versions. A table's name may be any text, so the folder's name consists of the
// name's plain letters and a digest of the whole.
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

// readManifest returns the published versions of a table, oldest first; none without a manifest.
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
			Table:        table,
			Number:       v.Number,
			File:         filepath.Join(folder, v.File),
			SHA256:       v.SHA256,
			Bytes:        v.Bytes,
			Rows:         v.Rows,
			Sealed:       v.Sealed,
			Schema:       v.Schema,
			SourceSHA256: v.SourceSHA256,
			SourceFiles:  v.SourceFiles,
			SourceBytes:  v.SourceBytes,
			Facts:        v.Facts,
			Stored:       v.Stored,
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
			Number:       v.Number,
			File:         versionFile(v.Number, v.Live),
			SHA256:       v.SHA256,
			Bytes:        v.Bytes,
			Rows:         v.Rows,
			Sealed:       v.Sealed,
			Schema:       v.Schema,
			SourceSHA256: v.SourceSHA256,
			SourceFiles:  v.SourceFiles,
			SourceBytes:  v.SourceBytes,
			Facts:        v.Facts,
			Stored:       v.Stored,
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

// schemaDigest identifies the parts of a declaration that a sealed file depends on: the source and how it is read, the
// columns with their types and nullability, and whose rows they are. It excludes bounds, declared values, caps and
// descriptions, which questions apply. So whether a version fits a declaration never depends on its rows.
func schemaDigest(t *policy.Table) string {
	type column struct {
		Name, Type string
		Nullable   bool
		Invalid    policy.Invalid
	}
	columns := make([]column, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = column{c.Name, c.Type.String(), c.Nullable, c.Invalid}
	}
	d := t.Source.Dialect
	if t.Source.Format != policy.CSV {
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
	}{t.Source.Format, t.Source.Path, t.Source.Table, d, t.Public, t.Unit.Column, columns, t.Source.Schema})
	if err != nil {
		panic(err) // strings, numbers and booleans only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
