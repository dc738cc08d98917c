package seal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFolderNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		fa, fb := folderOf("/home", a), folderOf("/home", b)
		if filepath.Dir(fa) != "/home/sealed" ||
			strings.Trim(filepath.Base(fa), "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			t.Fatalf("%q", fa)
		}
		if a != b && fa == fb {
			t.Fatalf("%q and %q share %q", a, b, fa)
		}
	})
	if got := folderOf("/h", "../../Étc"); got != "/h/sealed/_______tc-"+got[len(got)-12:] {
		t.Errorf("%q", got)
	}
}

func TestManifest(t *testing.T) {
	versions := []Version{
		{Table: "t", Number: 1, File: "/f/v1.parquet", Rows: 5},
		{Table: "t", Number: 3, File: "/f/v3.parquet"},
	}
	text, err := encodeManifest("t", versions)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeManifest(text, "/f", "t")
	if diff := cmp.Diff(versions, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for name, c := range map[string]struct{ text, want string }{
		"cut off":     {string(text[:len(text)/2]), "damaged"},
		"empty":       {"", "damaged"},
		"more":        {string(text) + "{}", "damaged"},
		"unknown key": {strings.Replace(string(text), `"rows"`, `"rowz"`, 1), "damaged"},
		"newer": {
			strings.Replace(string(text), `"format": 1`, `"format": 3, "new": true`, 1),
			"use a newer one",
		},
		"removed in 1":  {strings.Replace(string(text), `"bytes"`, `"removed": true, "bytes"`, 1), "damaged"},
		"older":         {strings.Replace(string(text), `"format": 1`, `"format": 0`, 1), "damaged"},
		"other table":   {strings.Replace(string(text), `"table": "t"`, `"table": "u"`, 1), "damaged"},
		"other folder":  {strings.Replace(string(text), `v1.parquet`, `../v1.parquet`, 1), "damaged"},
		"falls":         {strings.Replace(string(text), `"number": 1`, `"number": 4`, 1), "damaged"},
		"other numbers": {strings.Replace(string(text), `"number": 3`, `"number": 2`, 1), "damaged"},
	} {
		if _, err := decodeManifest([]byte(c.text), "/f", "t"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The format is pinned: a file of format 1 is read for ever.
func TestManifestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/manifest-1.json")
	if err != nil {
		t.Fatal(err)
	}
	versions, err := decodeManifest(text, "/f", "people")
	if err != nil {
		t.Fatal(err)
	}
	again, err := encodeManifest("people", versions)
	if diff := cmp.Diff(string(text), string(again)); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestDamagedManifestStops(t *testing.T) {
	w := newWorld(t)
	home, table := w.home("home"), people(w.write("people.csv", threeRows))
	v, _, err := Seal(t.Context(), home, table, &fake{}, w.options("L"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(v.File), "manifest.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Current(home, table)
	wantError(t, err, "manifest is damaged")
	_, _, err = Seal(t.Context(), home, table, &fake{}, w.options("L"))
	wantError(t, err, "manifest is damaged") // else numbers would be given twice
}

func TestMissingVersion(t *testing.T) {
	w := newWorld(t)
	home, table := w.home("home"), people(w.write("people.csv", threeRows))
	for number := 1; number <= 2; number++ {
		v, _, err := Seal(t.Context(), home, table, &fake{}, w.options("L"))
		if err != nil || v.Number != number {
			t.Fatal(v.Number, err)
		}
		if err := os.Remove(v.File); err != nil {
			t.Fatal(err)
		}
		_, err = Current(home, table)
		wantError(t, err, "seal it again")
	}
}
