package curator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/internal/draft"
)

// draftedOf drafts a policy from a file with the given bytes. The folder's name is not part of the result.
func draftedOf(t *testing.T, text string, o draft.Options) (policy, notes string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o.From = []string{file}
	made, said, err := draft.Policy(t.Context(), filepath.Join(filepath.Dir(file), "home"), o)
	return string(made), strings.ReplaceAll(strings.Join(said, "\n"), filepath.Dir(file)+"/", ""), err
}

func TestNotesOfSpellings(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"decimal comma", "x;y\n1,5;a\n12,25;b\n", `t.csv: the first fields of "x" look like the type real with source: {decimal: ","}`},
		{
			"points between thousands", "x\n1.234,5\n-2,5\nNA\n",
			`t.csv: the first fields of "x" look like the type real with source: {decimal: ",", thousands: "."}`,
		},
		{
			"two readings of one mark", "x;y\n1,234;1\n", `t.csv: the first fields of "x" look like the type real with source: ` +
				`{decimal: ","} or {thousands: ","}`,
		},
		{"one order of day and month", "d\n13.1.2025\n1.2.2025\n", `t.csv: the first fields of "d" look like the type date with source: {dates: D.M.YYYY}`},
		{
			"both orders", "d;e\n1/2/2025;03/04/2025\n", `t.csv: the first fields of "d", "e" look like the type date with source: ` +
				`{dates: D/M/YYYY} or {dates: M/D/YYYY}`,
		},
		{"codes", "x\n01,5\n", ""},
		{"other texts", "x\n1,5\nmany\n", ""},
		{"no text", "x\n\n", ""},
		{"usual spelling", "x,d\n1.5,2025-01-31\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := draft.Options{Delimiter: ";"}
			if strings.Contains(c.text, "x,d") {
				o.Delimiter = ","
			}
			if _, notes, err := draftedOf(t, c.text, o); err != nil || notes != c.want {
				t.Errorf("got notes %q and error %v, want %q", notes, err, c.want)
			}
		})
	}
}

func TestEncodingsOfDrafts(t *testing.T) {
	const latin = "Gr\xf6\xdfe\n5\n"
	if _, _, err := draftedOf(t, latin, draft.Options{}); err == nil || !strings.Contains(err.Error(), "is not valid UTF-8") {
		t.Errorf("a header that is not UTF-8: %v", err)
	}
	made, _, err := draftedOf(t, latin, draft.Options{Encoding: "windows-1252"})
	if err != nil || !strings.Contains(made, "\n      encoding: windows-1252\n") || !strings.Contains(made, `"Größe":`) {
		t.Errorf("the draft %s of a file in windows-1252, %v", made, err)
	}
	if _, _, err := draftedOf(t, "x\n5\n", draft.Options{Encoding: "latin1"}); err == nil || !strings.Contains(err.Error(), `unknown encoding "latin1"`) {
		t.Errorf("an unknown encoding: %v", err)
	}
	if made, _, err := draftedOf(t, "x\n5\n", draft.Options{Encoding: "utf-8"}); err != nil || strings.Contains(made, "encoding") {
		t.Errorf("the draft %s of a file in UTF-8, %v", made, err)
	}
}
