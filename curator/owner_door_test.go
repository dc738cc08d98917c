package curator_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Who holds a session does not make themselves its owner: no program outside of the package does that with what is exported.
func TestSessionsMakeNoOwner(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"control":  "func use(s *curator.Session) any { return s.Answer }",
		"literal":  "func use(s *curator.Session) any { return (&curator.Owner{Session: s}).Seal }",
		"unkeyed":  "func use(s *curator.Session) any { return (&curator.Owner{s}).For }",
		"assigned": "func use(s *curator.Session) any { o := new(curator.Owner); o.Session = s; return o.Seal }",
	} {
		dir := t.TempDir()
		file, overlay := filepath.Join(dir, "x.go"), filepath.Join(dir, "overlay.json")
		text := "package outside\n\nimport \"dither/curator\"\n\n" + body + "\n"
		at := filepath.Join(root, "outside-of-curator", "outside.go")
		for path, text := range map[string]string{file: text, overlay: `{"Replace":{"` + at + `":"` + file + `"}}`} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c := exec.Command("go", "build", "-overlay", overlay, "./outside-of-curator")
		c.Dir = root
		if out, err := c.CombinedOutput(); (err == nil) != (name == "control") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
