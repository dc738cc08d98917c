package seal

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dither/internal/csvtable"
	"dither/internal/policy"
	"dither/internal/value"
)

// fake is a Backend whose sealed files are lines of JSON.
type fake struct {
	failInspect error
	afterImport func() // after the source was read
	imports     int
}

func (f *fake) Write(_ context.Context, file string, t *policy.Table, next func([]value.Value) error) error {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	row := make([]value.Value, len(t.Columns))
	for {
		if err := next(row); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = v.String()
		}
		if err := json.NewEncoder(out).Encode(texts); err != nil {
			return err
		}
	}
}

func (f *fake) Import(_ context.Context, file string, t *policy.Table, _ []string, _ Held) ([]csvtable.Invalid, error) {
	f.imports++
	content, err := os.ReadFile(t.Source.File)
	if err != nil {
		return nil, err
	}
	if f.afterImport != nil {
		f.afterImport()
	}
	return nil, os.WriteFile(file, content, 0o600)
}

func (f *fake) Inspect(_ context.Context, file string, t *policy.Table) (Facts, error) {
	facts := Facts{Columns: make([]ColumnFacts, len(t.Columns))}
	if f.failInspect != nil {
		return facts, f.failInspect
	}
	in, err := os.Open(file)
	if err != nil {
		return facts, err
	}
	defer in.Close()
	units := map[string]int64{}
	for d := json.NewDecoder(in); ; {
		var row []string
		if err := d.Decode(&row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return facts, err
		}
		facts.Rows++
		for i, c := range t.Columns {
			facts.Columns[i].Name = c.Name
			if row[i] == "NULL" {
				facts.Columns[i].Nulls++
			}
			if c.Name == t.Unit.Column {
				units[row[i]]++
				facts.MaxRowsPerUnit = max(facts.MaxRowsPerUnit, units[row[i]])
			}
		}
	}
	facts.Units = int64(len(units))
	if t.Unit.IsRow() {
		facts.Units, facts.MaxRowsPerUnit = facts.Rows, 1
	}
	return facts, nil
}

// world is a user with a state folder, and homes and sources in a folder of the test.
type world struct {
	*testing.T
	dir string
}

func newWorld(t *testing.T) world { return world{t, t.TempDir()} }

func (w world) home(name string) string {
	w.Helper()
	home := filepath.Join(w.dir, name)
	if err := os.MkdirAll(home, 0o700); err != nil {
		w.Fatal(err)
	}
	w.write(filepath.Join(name, ledgerFile), "")
	return home
}

func (w world) write(name, content string) string {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

func (w world) options(ledger string) Options {
	return Options{
		LedgerID: ledger,
		Now:      func() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 5, time.UTC) },
		Getenv: func(name string) string {
			return map[string]string{"XDG_STATE_HOME": filepath.Join(w.dir, "state")}[name]
		},
	}
}

func people(file string) *policy.Table {
	return &policy.Table{
		Name: "people",
		Source: policy.Source{
			Format: policy.CSV, Path: filepath.Base(file), File: file,
			Dialect: policy.Dialect{Delimiter: ',', Quote: '"', Header: true},
		},
		Unit: policy.Unit{Column: "id", RowsPerUnit: 2, MaxGroups: 1},
		Columns: []*policy.Column{
			{Name: "id", Type: value.Integer, Invalid: policy.InvalidRefused},
			{Name: "city", Type: value.Text, Nullable: true, Invalid: policy.InvalidRefused},
		},
	}
}

const threeRows = "id,city,note\n1,Oslo,x\n1,,y\n2,Rome,z\n"

// left lists the files of a folder tree but locks and notes, as slash-separated paths below it.
func left(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "lock" && d.Name() != ledgerFile &&
			!strings.HasSuffix(d.Name(), ".checked") {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return names
}

func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}
