package statstest

import (
	"context"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"

	"dither/curator"
)

// Example opens a home with these files, one of them policy.yaml, and seals a table of it. done removes the home.
func Example(files fs.FS, table string) (c *curator.Curator, done func()) {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "dither-example-")
	must(err)
	home := filepath.Join(dir, "home")
	must(curator.Init(home))
	must(os.CopyFS(home, files))
	c, err = curator.Open(home)
	must(err)
	_, err = c.Seal(context.Background(), table, curator.SealOptions{StateHome: dir})
	must(err)
	return c, func() {
		must(c.Close())
		must(os.RemoveAll(dir))
	}
}

// MadeUp are the files of a home with made-up rows.
func MadeUp(policy, source, rows string) fs.FS {
	return fstest.MapFS{"policy.yaml": {Data: []byte(policy)}, source: {Data: []byte(rows)}}
}
