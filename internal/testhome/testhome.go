// Package testhome supports tests and examples: it makes homes, and seals their tables.
package testhome

import (
	"context"
	"errors"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"dither/curator"
)

// Make makes a home below a directory, copies the files into it, and seals the tables. One of the files is policy.yaml.
// It records claims of sources in the directory too. The caller closes the home.
func Make(ctx context.Context, dir string, files fs.FS, tables ...string) (o *curator.Owner, home string, err error) {
	home = filepath.Join(dir, "home")
	if err := errors.Join(curator.Init(home), os.CopyFS(home, files)); err != nil {
		return nil, "", err
	}
	if o, err = curator.Open(home); err != nil {
		return nil, "", err
	}
	for _, table := range tables {
		if _, err := o.Seal(ctx, table, curator.SealOptions{StateHome: dir}); err != nil {
			return nil, "", errors.Join(err, o.Close())
		}
	}
	return o, home, nil
}

// Files returns the files of a home: policy.yaml, and the sources.
func Files(policy string, sources map[string]string) fs.FS {
	out := fstest.MapFS{"policy.yaml": {Data: []byte(policy), Mode: 0o600}}
	for name, text := range sources {
		out[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o600}
	}
	return out
}

// Opened makes a home from these files for a test, and seals the tables. The home closes when the test ends.
func Opened(t testing.TB, files fs.FS, tables ...string) (o *curator.Owner, home string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir) // for a test that seals again
	o, home, err := Make(t.Context(), dir, files, tables...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o, home
}

// Sealed makes a home from a policy and source files for a test, seals a table, and returns a session and the home's
// path. The home closes when the test ends.
func Sealed(t testing.TB, policy, table string, sources map[string]string) (c *curator.Session, home string) {
	t.Helper()
	o, home := Opened(t, Files(policy, sources), table)
	return o.Session(), home
}

// Example makes a home from these files for a documented example, and seals the table. It returns a session, and a
// function done that removes the home. An error ends the program.
func Example(files fs.FS, table string) (c *curator.Session, done func()) {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "dither-example-")
	must(err)
	o, _, err := Make(context.Background(), dir, files, table)
	must(err)
	return o.Session(), func() {
		must(o.Close())
		must(os.RemoveAll(dir))
	}
}
