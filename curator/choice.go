package curator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
)

// maxChoice is the largest number of bytes of a recorded choice.
const maxChoice = 1 << 26

// choiceHeader begins the file of a choice. The digest of the data follows it.
const choiceHeader = "dither choice 1 "

// Choice returns the data that [Session.KeepChoice] recorded in the home for a text; nil if there is none.
//
// Floats choose what to measure, and other processors round differently. A program that records its choice measures the
// same integers on every computer, so its request replays the release instead of paying again. A choice must follow from
// its text alone, never from rows or releases. Damaged choices are ignored: the kernel proves the sensitivity of whatever is
// measured.
func (c *Session) Choice(of string) []byte {
	f, err := os.Open(c.choiceFile(of))
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // the file is only read
	all, err := io.ReadAll(io.LimitReader(f, maxChoice+1<<10))
	if err != nil {
		return nil
	}
	header, data, _ := bytes.Cut(all, []byte("\n"))
	if string(header) != choiceHeader+digestOf(data) {
		return nil
	}
	return data
}

// KeepChoice records data as the choice for a text, unless one is recorded, and returns the recorded one. If the home
// cannot be written, or if the data are too large, it returns the data.
func (c *Session) KeepChoice(of string, data []byte) []byte {
	if kept := c.Choice(of); kept != nil || len(data) > maxChoice {
		if kept != nil {
			return kept
		}
		return data
	}
	path := c.choiceFile(of)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return data
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".choice-*") // with mode 0600
	if err != nil {
		return data
	}
	defer os.Remove(f.Name()) //nolint:errcheck // a file that is left behind is ignored
	_, err = f.WriteString(choiceHeader + digestOf(data) + "\n" + string(data))
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err != nil || closing != nil {
		return data
	}
	if err := os.Link(f.Name(), path); err != nil { // another process recorded one first, or the present one is damaged
		if kept := c.Choice(of); kept != nil {
			return kept
		}
		_ = os.Rename(f.Name(), path) // without it, the next call chooses again
	}
	if kept := c.Choice(of); kept != nil {
		return kept
	}
	return data
}

func (c *Session) choiceFile(of string) string {
	return filepath.Join(c.home, "choices", digestOf([]byte(of)))
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
