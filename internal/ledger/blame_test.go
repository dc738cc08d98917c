package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Wherever one character of a line is changed so that the line still reads as an entry, the error names that line; of
// the last line but one, it and the line after it, since nothing in the log tells which of them it was. Blank lines
// before count.
func TestCorruptNamesTheLine(t *testing.T) {
	dir, l := begin(t, "3", "0.5")
	for i := range 4 {
		must(t, l.Release(mustReserve(t, l, key(i), "0.1"), values(i)))
	}
	must(t, l.Close())
	path := filepath.Join(dir, logName)
	whole, err := os.ReadFile(path)
	must(t, err)
	for _, blank := range []string{"", "\n\n"} {
		lines := bytes.SplitAfter(whole, []byte("\n"))
		lines = lines[:len(lines)-1]
		lines[2] = append([]byte(blank), lines[2]...)
		for n := range lines {
			edited := bytes.Replace(lines[n], []byte(`:05:06`), []byte(`:05:07`), 1)
			edited = bytes.Replace(edited, []byte(`:05.000000006Z`), []byte(`:05.000000007Z`), 1)
			if bytes.Equal(edited, lines[n]) {
				t.Fatalf("line %d has no such time: %s", n+1, lines[n])
			}
			changed := append([][]byte{}, lines...)
			changed[n] = edited
			must(t, os.WriteFile(path, bytes.Join(changed, nil), 0o600))
			want, or := uint64(n+1), uint64(0)
			if n >= 2 {
				want += uint64(len(blank))
			}
			if n == len(lines)-2 {
				or = want + 1
			}
			_, err := Verify(dir, nil)
			var corrupt *CorruptError
			if n == len(lines)-1 { // it is not the one that the head file names
				if !errors.As(err, new(*RolledBackError)) {
					t.Errorf("the last line: %v", err)
				}
				continue
			}
			if !errors.As(err, &corrupt) || corrupt.Line != want || corrupt.Or != or {
				t.Errorf("line %d was changed (%d blank): %v", want, len(blank), err)
			}
		}
		for n := 1; n < len(lines)-1; n++ { // a line that is missing
			must(t, os.WriteFile(path,
				bytes.Join(append(append([][]byte{}, lines[:n]...), lines[n+1:]...), nil), 0o600))
			want := uint64(n + 1)
			if n != 2 { // which has the blank lines before it
				want += uint64(len(blank))
			}
			var corrupt *CorruptError
			if _, err := Verify(dir, nil); !errors.As(err, &corrupt) || corrupt.Line != want {
				t.Errorf("without line %d (%d blank): %v", n+1, len(blank), err)
			}
		}
	}
}
