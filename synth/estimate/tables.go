package estimate

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Column is a column of the tables.
type Column struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Binned bool     `json:"binned"`           // its numbers are random within bins
	Values []string `json:"values,omitempty"` // in order, if it has no bins
	// Empty: one of the values is the empty text. Its cells in CSV are those of NULL, so its rows would not count
	Empty bool `json:"empty,omitempty"`
}

// Manifest describes tables that are draws from one posterior distribution. `dither synth --draws` writes it as JSON.
type Manifest struct {
	Synthetic bool       `json:"synthetic"` // always true
	Release   string     `json:"release"`
	Table     string     `json:"table"`
	Method    string     `json:"method"`
	Valid     bool       `json:"valid"`  // intervals hold for statistics of measured marginals
	Reason    string     `json:"reason"` // why they do not hold, or ""
	Rows      int64      `json:"rows"`   // of each table
	RealRows  int64      `json:"real_rows"`
	Measured  [][]string `json:"measured"` // the columns of each marginal
	Columns   []Column   `json:"columns"`
	Files     []string   `json:"files"` // beside the manifest
}

// Write writes the manifest as JSON.
func (m *Manifest) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(m)
}

// The limits of what is read.
const (
	maxManifest = 64 << 20
	maxTables   = 1000
)

// Tables are synthetic tables.
type Tables struct {
	Manifest
	folder string
	// Open opens the i-th table as CSV. The default opens the files of the manifest.
	Open func(i int) (io.ReadCloser, error)
}

// Read reads a manifest. Its tables are read when they are needed.
func Read(path string) (*Tables, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return nil, err
	}
	t := &Tables{folder: filepath.Dir(path)}
	if err := json.Unmarshal(text, &t.Manifest); err != nil {
		return nil, fmt.Errorf("%s is no manifest of draws, which `dither synth --draws` writes: %w", path, err)
	}
	if !t.Synthetic || len(t.Files) < 2 || len(t.Files) > maxTables || t.Rows < 1 || t.RealRows < 1 {
		return nil, fmt.Errorf("%s is no manifest of 2 to %d draws, which `dither synth --draws` writes", path, maxTables)
	}
	for _, name := range t.Files {
		if name != filepath.Base(name) || name == "." || name == ".." {
			return nil, fmt.Errorf("%s names %q: files are beside it", path, name)
		}
	}
	t.Open = func(i int) (io.ReadCloser, error) { return os.Open(filepath.Join(t.folder, t.Files[i])) }
	return t, nil
}

// column returns a column by its name.
func (t *Tables) column(name string) (*Column, error) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no column %q", name)
	}
	return &t.Columns[i], nil
}

// cell is a combination of values, with its number of rows.
type cell struct {
	values []string
	rows   float64
}

// errRows says that a table has other rows than its manifest says.
var errRows = errors.New("the table does not fit its manifest: draw again")

// read counts the combinations of values of columns in the i-th table, in the order of their first row. Rows with NULL
// are left out.
func (t *Tables) read(i int, names []string) ([]cell, error) {
	f, err := t.Open(i)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	r := csv.NewReader(f)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRows, err)
	}
	at := make([]int, len(names))
	for k, name := range names {
		if at[k] = slices.Index(header, name); at[k] < 0 {
			return nil, fmt.Errorf("%w: it has no column %q", errRows, name)
		}
	}
	var cells []cell
	known := map[string]int{}
	rows := int64(0)
	var key []byte
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errRows, err)
		}
		rows++
		null := false
		key = key[:0]
		for _, j := range at {
			key = append(append(key, record[j]...), 0)
			null = null || record[j] == ""
		}
		if null {
			continue
		}
		place, found := known[string(key)]
		if !found {
			place = len(cells)
			known[string(key)] = place
			cells = append(cells, cell{})
			for _, j := range at { // the reader reuses the record
				cells[place].values = append(cells[place].values, strings.Clone(record[j]))
			}
		}
		cells[place].rows++
	}
	if rows != t.Rows {
		return nil, fmt.Errorf("%w: %d rows instead of %d", errRows, rows, t.Rows)
	}
	return cells, nil
}
