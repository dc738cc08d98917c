package seal

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dither/internal/csvtable"
	"dither/internal/policy"
	"dither/internal/value"
)

func TestSealPublishes(t *testing.T) {
	w := newWorld(t)
	home, table := w.home("home"), people(w.write("people.csv", threeRows))
	if _, err := Current(home, table); !errors.Is(err, ErrNotSealed) {
		t.Fatalf("before sealing: %v", err)
	}
	v, report, err := Seal(t.Context(), home, table, &fake{}, w.options("L"))
	if err != nil {
		t.Fatal(err)
	}
	if v.Number != 1 || v.Rows != 3 || report.Facts.MaxRowsPerUnit != 2 || report.Facts.Columns[1].Nulls != 1 {
		t.Errorf("%+v\n%+v", v, report)
	}
	if diff := cmp.Diff([]string{"note"}, report.Ignored); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(report.String(), "not private") {
		t.Errorf("the report does not say that it is not private:\n%s", report)
	}
	got, err := Current(home, table)
	if diff := cmp.Diff(v, got); err != nil || diff != "" {
		t.Errorf("Current: %v\n%s", err, diff)
	}
	if err := Verify(t.Context(), got); err != nil {
		t.Error(err)
	}
	for path, mode := range map[string]os.FileMode{
		v.File: 0o600, filepath.Dir(v.File): 0o700 | os.ModeDir, filepath.Join(home, "sealed"): 0o700 | os.ModeDir,
		filepath.Join(filepath.Dir(v.File), "manifest.json"): 0o600,
		filepath.Join(w.dir, "state/dither/claims"):          0o700 | os.ModeDir,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	content, err := os.ReadFile(v.File)
	if want := "[\"1\",\"Oslo\"]\n[\"1\",\"NULL\"]\n[\"2\",\"Rome\"]\n"; err != nil || string(content) != want {
		t.Errorf("the file holds %q, %v", content, err)
	}
}

func TestSealAgain(t *testing.T) {
	w := newWorld(t)
	home, file := w.home("home"), w.write("people.csv", threeRows)
	sealed := func(table *policy.Table, number int, unchanged bool) {
		t.Helper()
		v, report, err := Seal(t.Context(), home, table, &fake{}, w.options("L"))
		if err != nil || v.Number != number || report.Version != number || report.Unchanged != unchanged {
			t.Errorf("version %d, unchanged %v, %v; want %d, %v", v.Number, report.Unchanged, err, number, unchanged)
		}
	}
	sealed(people(file), 1, false)
	sealed(people(file), 1, true)
	unrecorded := w.options("L")
	unrecorded.After = 0 // nobody recorded version 1
	if v, report, err := Seal(t.Context(), home, people(file), &fake{}, unrecorded); err != nil || v.Number != 1 || !report.Unchanged {
		t.Errorf("version %d, %+v, %v", v.Number, report, err)
	}
	bounded := people(file)
	bounded.Columns[0].Values = []value.Value{value.OfInt(1)}
	sealed(bounded, 1, true) // applied in questions
	w.write("people.csv", strings.Replace(threeRows, "Rome", "Bonn", 1))
	if v, err := Current(home, people(file)); err != nil || v.Number != 1 {
		t.Errorf("a question noticed the source: %v, %v", v.Number, err)
	}
	sealed(people(file), 2, false) // same size, other bytes
	for i, change := range []func(*policy.Table){
		func(t *policy.Table) { t.Columns[0].Type = value.Real },
		func(t *policy.Table) { t.Columns = append(t.Columns, &policy.Column{Name: "note", Type: value.Text}) },
		func(t *policy.Table) { t.Columns[0].Nullable = true },
		func(t *policy.Table) { t.Unit.RowsPerUnit = 7 },
		func(t *policy.Table) { t.Unit.Column, t.Unit.RowsPerUnit = "", 1 },
		func(t *policy.Table) { t.Source.Path = "./people.csv" },
	} {
		table := people(file)
		change(table)
		var stale *StaleError
		if _, err := Current(home, table); !errors.As(err, &stale) {
			t.Errorf("change %d: %v is not stale", i, err)
		}
		sealed(table, 3+i, false)
	}
	v, err := current(home, people(file))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(v.File, []byte("damage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Verify(t.Context(), v); err == nil {
		t.Error("damage is not seen")
	}
	sealed(people(file), v.Number+1, false)
}

// Whatever is wrong with the source, nothing is published, nothing is left, and no cell is quoted.
func TestSealRefuses(t *testing.T) {
	const secret = "s3cret"
	var z bytes.Buffer
	gz := gzip.NewWriter(&z)
	for i := range 20_000 {
		fmt.Fprintf(gz, "%d,%x\n", i, i*7919)
	}
	gz.Close()
	zipped := func(t *policy.Table) { t.Source.Dialect.Gzip, t.Source.Dialect.Header = true, false }
	for _, c := range []struct {
		name, content string
		change        func(*policy.Table)
		want          string
	}{
		{"missing", "", func(t *policy.Table) { t.Source.File += ".not" }, "no such file"},
		{"folder", "", func(t *policy.Table) { t.Source.File = filepath.Dir(t.Source.File) }, "is a folder"},
		{"pipe", "", func(t *policy.Table) {
			t.Source.File += ".pipe"
			_ = syscall.Mkfifo(t.Source.File, 0o600)
		}, "not a regular file"},
		{"device", "", func(t *policy.Table) { t.Source.File = os.DevNull }, "not a regular file"},
		{"empty", "", nil, "the file is empty"},
		{"wrong type", "id,city\n" + secret + ",x\n", nil, `row 1, line 2, column "id"`},
		{"open quote", "id,city\n1,\"" + secret + "\n", nil, "never closes"},
		{"100 MB line", "id,city\n1," + strings.Repeat("x", 100_000_000), nil, "row 1, line 2: the record is longer"},
		{"UTF-8", "id,city\n1,\xff" + secret + "\n", nil, "invalid UTF-8"},
		{"contradicted columns", "id,town\n1,x\n", nil, `column "city": the header does not name`},
		{"NULL unit", "id,city\n,a\n", nil, `column "id": the value is NULL`},
		{"not gzip", threeRows, zipped, "not gzip"},
		{"gzip of nothing", "", zipped, "not gzip"},
		{"gzip cut off", z.String()[:z.Len()/2], zipped, "ends too early, in row"},
		{"gzip without trailer", z.String()[:z.Len()-4], zipped, "ends too early"},
		{"gzip checksum", z.String()[:z.Len()-8] + "12345678", zipped, "is damaged"},
		{"gzip damaged", z.String()[:1000] + strings.Repeat("\xff", 1000) + z.String()[2000:], zipped, "source \"people.csv\""},
		{"gzip and more", z.String() + "more data than a header", zipped, "gzip"},
		{"gzip as text", z.String(), nil, "table \"people\": source \"people.csv\""},
		{"dialect", threeRows, func(t *policy.Table) { t.Source.Dialect.Quote = ',' }, "must be different characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			home, table := w.home("home"), people(w.write("people.csv", c.content))
			if c.change != nil {
				c.change(table)
			}
			_, _, err := Seal(t.Context(), home, table, &fake{}, w.options("L"))
			wantError(t, err, c.want)
			if strings.Contains(err.Error(), secret) {
				t.Errorf("quotes a cell: %v", err)
			}
			if files := left(t, home); len(files) > 0 {
				t.Errorf("left behind: %q", files)
			}
			if files := left(t, filepath.Join(w.dir, "state")); len(files) > 0 {
				t.Errorf("claimed all the same: %q", files)
			}
			if _, err := Current(home, table); !errors.Is(err, ErrNotSealed) {
				t.Errorf("published all the same: %v", err)
			}
		})
	}
}

func TestSealKeepsTheOldVersion(t *testing.T) {
	w := newWorld(t)
	home, table := w.home("home"), people(w.write("people.csv", threeRows))
	if _, _, err := Seal(t.Context(), home, table, &fake{}, w.options("L")); err != nil {
		t.Fatal(err)
	}
	before := left(t, home)
	w.write("people.csv", "id,city\nx,y\n")
	if _, _, err := Seal(t.Context(), home, table, &fake{}, w.options("L")); err == nil {
		t.Error("a bad source is sealed")
	}
	w.write("people.csv", "id,city\n1,y\n")
	broken := errors.New("broken")
	if _, _, err := Seal(t.Context(), home, table, &fake{failInspect: broken},
		w.options("L")); !errors.Is(err, broken) {
		t.Error(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	table.Source.Format = policy.Parquet
	if _, _, err := Seal(canceled, home, table, &fake{}, w.options("L")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	table.Source.Format = policy.CSV
	if diff := cmp.Diff(before, left(t, home)); diff != "" {
		t.Error(diff)
	}
	if v, err := Current(home, table); err != nil || v.Number != 1 || Verify(t.Context(), v) != nil {
		t.Errorf("%v, %v", v, err)
	}
}

// A killed sealing leaves files: the next one removes its temporary ones, and takes over a name that was not published.
func TestSealAfterAKill(t *testing.T) {
	w := newWorld(t)
	home, table := w.home("home"), people(w.write("people.csv", threeRows))
	folder := folderOf(home, table.Name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{tempPrefix + "1.parquet", "v1.parquet"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Current(home, table); !errors.Is(err, ErrNotSealed) {
		t.Error(err)
	}
	v, _, err := Seal(t.Context(), home, table, &fake{}, w.options("L"))
	if err != nil || v.Number != 1 || Verify(t.Context(), v) != nil {
		t.Errorf("%v, %v", v, err)
	}
	if n := len(left(t, folder)); n != 2 {
		t.Errorf("%q", left(t, folder))
	}
}

func TestHomeThatCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	home, table := w.home("home"), people(w.write("people.csv", threeRows))
	w.write("home/sealed", "a file where the folder should be")
	_, _, err := Seal(t.Context(), home, table, &fake{}, w.options("L"))
	wantError(t, err, "the home cannot be written")
	if _, _, err = Seal(t.Context(), "/proc/dither", table, &fake{}, w.options("L")); err == nil {
		t.Error("sealed into /proc")
	}
	if os.Getuid() == 0 {
		return // writes everywhere
	}
	shut := w.home("shut")
	if err := os.Chmod(shut, 0o500); err != nil {
		t.Fatal(err)
	}
	_, _, err = Seal(t.Context(), shut, table, &fake{}, w.options("L"))
	wantError(t, err, "the home cannot be written")
}

func TestSealAtOnce(t *testing.T) {
	w := newWorld(t)
	home, table := w.home("home"), people(w.write("people.csv", threeRows))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			v, _, err := Seal(t.Context(), home, table, &fake{}, w.options("L"))
			if err != nil || v.Number != 1 {
				t.Errorf("version %d, %v", v.Number, err)
			}
		})
	}
	all.Wait()
	if files := left(t, home); len(files) != 2 {
		t.Errorf("%q", files)
	}
}

func TestImportSeesAChange(t *testing.T) {
	w := newWorld(t)
	home, table := w.home("home"), people(w.write("people.parquet", "[\"1\",\"a\"]\n"))
	table.Source.Format = policy.Parquet
	b := &fake{afterImport: func() { w.write("people.parquet", "[\"2\",\"b\"]\n") }}
	_, _, err := Seal(t.Context(), home, table, b, w.options("L"))
	wantError(t, err, "changed while it was being sealed")
	b.afterImport = nil
	for range 2 {
		if v, _, err := Seal(t.Context(), home, table, b, w.options("L")); err != nil || v.Number != 1 {
			t.Errorf("%d, %v", v.Number, err)
		}
	}
	if b.imports != 2 {
		t.Errorf("%d imports, want 2: the third sealing had nothing to do", b.imports)
	}
}

func TestEmptyTableAndProgress(t *testing.T) {
	w := newWorld(t)
	home, table := w.home("home"), people(w.write("people.csv", "id,city\n"))
	v, _, err := Seal(t.Context(), home, table, &fake{}, w.options("L"))
	if err != nil || v.Rows != 0 {
		t.Errorf("%d rows, %v", v.Rows, err)
	}
	w.write("people.csv", "id,city\n"+strings.Repeat("1,x\n", 40_000))
	table.Unit.RowsPerUnit = 40_000
	var steps []Progress
	o := w.options("L")
	o.Progress = func(p Progress) { steps = append(steps, p) }
	if _, _, err := Seal(t.Context(), home, table, &fake{}, o); err != nil {
		t.Fatal(err)
	}
	last := steps[len(steps)-1]
	if len(steps) != 3 || last.Rows != 40_000 || last.Bytes != 160_008 || last.TotalBytes != 160_008 {
		t.Errorf("%+v", steps)
	}
}

func TestInvalidsAreReported(t *testing.T) {
	w := newWorld(t)
	home, table := w.home("home"), people(w.write("people.csv", "id,city\n1,x\n?,y\n"))
	table.Columns[0].Invalid, table.Columns[0].Nullable = policy.InvalidIsNull, true
	_, report, err := Seal(t.Context(), home, table, &fake{}, w.options("L"))
	if diff := cmp.Diff([]csvtable.Invalid{{Column: "id", Count: 1, FirstRow: 2}}, report.Invalids); err != nil ||
		diff != "" {
		t.Error(err, diff)
	}
	for row, told := range map[int64]bool{2: true, 0: false} { // on a server no row is the first
		report.Invalids[0].FirstRow = row
		if text := report.String(); strings.Contains(text, "first in row") != told ||
			!strings.Contains(text, "1 unreadable values became NULL") {
			t.Error(text)
		}
	}
}

// TestSealIsDatedBeforeItWaits: the time of a version is read before waiting for another sealing of the table, whose
// running time depends on rows.
func TestSealIsDatedBeforeItWaits(t *testing.T) {
	w := newWorld(t)
	home, table := w.home("home"), people(w.write("people.csv", threeRows))
	other, err := lockShelf(t.Context(), home, table.Name)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	dated := make(chan struct{})
	at := time.Date(2026, 12, 1, 6, 0, 0, 0, time.UTC)
	o := w.options("L")
	o.Now = func() time.Time {
		once.Do(func() { close(dated) })
		return at
	}
	sealed := make(chan error, 1)
	go func() {
		v, _, err := Seal(t.Context(), home, table, &fake{}, o)
		if err == nil && !v.Sealed.Equal(at) {
			err = fmt.Errorf("sealed at %v", v.Sealed)
		}
		sealed <- err
	}()
	<-dated // while the other sealing holds the lock
	other.unlock()
	if err := <-sealed; err != nil {
		t.Error(err)
	}
}
