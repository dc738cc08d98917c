package strategies

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMayBeReal(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	policy := "# SELECT * is not answered\ntables:\n  a: {source: {csv: a.csv}}\n  b: {source: {csv: 'of b.csv'}}\n" +
		"  c:\n    source: {parquet: part-*.parquet}\n  d: {source: {csv: " + filepath.Join(other, "d.csv") + "}}\n" +
		"  e:\n    source:\n      csv: of e.csv\n"
	if err := os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		filepath.Join(home, "a.csv"), filepath.Join(home, "of b.csv"), filepath.Join(home, "part-2.parquet"), filepath.Join(home, "of e.csv"),
		filepath.Join(home, "rows.csv"), filepath.Join(other, "d.csv"), filepath.Join(other, "a.csv"),
	} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]bool{
		filepath.Join(home, "a.csv"): true, filepath.Join(home, "of b.csv"): true, filepath.Join(home, "part-2.parquet"): true,
		filepath.Join(home, "of e.csv"): true, filepath.Join(other, "d.csv"): true, filepath.Join(home, "rows.csv"): false,
		filepath.Join(other, "a.csv"): false, filepath.Join(home, "part-3.parquet"): false, "": false,
	} {
		if mayBeReal(home, file) != want {
			t.Errorf("%s: %v instead of %v", file, !want, want)
		}
	}
}
