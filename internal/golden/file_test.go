package golden

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// golden is a question with its figures.
type golden struct {
	ID      string  `json:"id"`
	Release string  `json:"release,omitempty"` // of the old home
	Ask     ask     `json:"ask"`
	Fresh   figures `json:"fresh,omitempty"` // under recorded randomness
	Again   figures `json:"again,omitempty"` // of the old home, where they are not those of Fresh
	Next    figures `json:"next,omitempty"`  // of a training that goes on, its next step
}

const (
	mostItems  = 40   // of a list, that are figures
	digits     = 12   // of a number that is not whole
	nearEnough = 1e-9 // relative: what floating point may differ by on another machine
)

// plain is a value as JSON reads it, without its bounds, its lists cut and its numbers rounded.
func plain[T any](v T) (figures, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := figures{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&out)
	delete(out, "bounds") // follow from the plan's caps and clamps, which testdata/plans has
	if notes, ok := out["notes"].([]any); ok {
		// follows from HAVING, ORDER BY and LIMIT of the question, and is tested in internal/plan
		kept := slices.DeleteFunc(notes, func(n any) bool { text, _ := n.(string); return strings.HasPrefix(text, "HAVING, or ORDER BY") })
		if out["notes"] = kept; len(kept) == 0 && len(notes) > 0 {
			delete(out, "notes")
		}
	}
	return shortened(out).(figures), err
}

func shortened(v any) any {
	switch v := v.(type) {
	case figures:
		for name, x := range v {
			if x == nil {
				delete(v, name)
				continue
			}
			v[name] = shortened(x)
		}
	case []any:
		n := len(v)
		if n > mostItems {
			v = append(slices.Clone(v[:mostItems]), fmt.Sprintf("… of %d", n))
		}
		for i := range v {
			v[i] = shortened(v[i])
		}
		return v
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			x, _ := v.Float64()
			return json.Number(strconv.FormatFloat(x, 'g', digits, 64))
		}
	}
	return v
}

// differ tells each place where two values are not the same, as PATH: GOT, want WANT.
func differ(path string, got, want any, tell func(string)) {
	if g, ok := got.(figures); ok {
		if w, ok := want.(figures); ok {
			names := figures{}
			maps.Copy(names, g)
			maps.Copy(names, w)
			for _, name := range slices.Sorted(maps.Keys(names)) {
				differ(path+"."+name, g[name], w[name], tell)
			}
			return
		}
	}
	if g, ok := got.([]any); ok {
		if w, ok := want.([]any); ok && len(g) == len(w) {
			for i := range g {
				differ(fmt.Sprintf("%s[%d]", path, i), g[i], w[i], tell)
			}
			return
		}
	}
	if g, ok := got.(json.Number); ok {
		if w, ok := want.(json.Number); ok && near(g, w) {
			return
		}
	}
	a, err := json.Marshal(got)
	b, err2 := json.Marshal(want)
	if err != nil || err2 != nil || !bytes.Equal(a, b) {
		tell(fmt.Sprintf("%s: %s, want %s", path, a, b))
	}
}

func near(a, b json.Number) bool {
	x, err := a.Float64()
	y, err2 := b.Float64()
	return err == nil && err2 == nil && math.Abs(x-y) <= nearEnough*max(math.Abs(x), math.Abs(y))
}

// check reports where figures differ.
func check(t *testing.T, of golden, what string, got, want figures) {
	t.Helper()
	told := 0
	differ(what, got, want, func(line string) {
		if told++; told <= 5 {
			t.Errorf("%s: %s\n\tof %s %s", of.ID, line, cmp.Or(of.Ask.Do, "answer"), of.Ask.SQL)
		}
	})
	if told > 5 {
		t.Errorf("%s: %d further figures differ", of.ID, told-5)
	}
}

// readLines reads a file of JSON lines.
func readLines[T any](t testing.TB, file string) (out []T) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatal(file, err)
	}
	decoder := json.NewDecoder(z)
	decoder.UseNumber()
	for {
		var one T
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(file, err)
		}
		out = append(out, one)
	}
}

// writeLines writes one: the same bytes each time.
func writeLines[T any](t testing.TB, file string, lines []T) {
	t.Helper()
	write(t, file, func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		for _, line := range lines {
			if err := encoder.Encode(line); err != nil {
				return err
			}
		}
		return nil
	})
}

func write(t testing.TB, file string, to func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		err = to(z)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.WriteFile(file, b.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// pack writes a home's files, but for locks and what sealing read.
func pack(t testing.TB, home, file string) {
	t.Helper()
	write(t, file, func(w io.Writer) error {
		out := tar.NewWriter(w)
		err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "lock" || strings.HasPrefix(d.Name(),
				"source.") || filepath.Base(filepath.Dir(path)) == "tmp" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(home, path)
			if err != nil {
				return err
			}
			if err := out.WriteHeader(&tar.Header{
				Name: filepath.ToSlash(name), Mode: 0o600,
				Size: int64(len(text)),
			}); err != nil {
				return err
			}
			_, err = out.Write(text)
			return err
		})
		return errors.Join(err, out.Close())
	})
}

// unpack makes a home of what pack wrote, for the test alone.
func unpack(t testing.TB, file string) (home string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home = filepath.Join(t.TempDir(), "home")
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatal(file, err)
	}
	in := tar.NewReader(z)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return home
		}
		if err != nil || !filepath.IsLocal(header.Name) {
			t.Fatal(file, header, err)
		}
		path := filepath.Join(home, header.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(file, err)
		}
	}
}
