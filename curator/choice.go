package curator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dither/internal/release"
	"dither/privacy"
)

const (
	maxChoice        = 1 << 26    // the largest number of bytes of a recorded choice
	leastChoice      = 1 << 14    // a small choice counts as so many bytes, which bounds the number of files
	unfinishedChoice = ".choice-" // begins the name of a file that is being written
)

// mostChoices is the largest number of bytes of all choices in a home together. Tests lower it.
var mostChoices int64 = 1 << 28

// choiceHeader begins the file of a choice. The digest of the data follows it.
const choiceHeader = "dither choice 1 "

// Choice is what a program chose to measure, and the text that determines it.
type Choice struct {
	Of   string
	Data []byte // nil for no choice
}

// Choice returns the data that [Session.MeasureStrategy] recorded in the home for a text; nil if there is none.
//
// Floats choose what to measure, and other processors round differently. A program that records its choice measures the
// same integers on every computer, so its request replays the release instead of paying again. A choice must follow
// from its text and from earlier requests, never from rows or released numbers. Damaged choices are ignored: the kernel
// proves the sensitivity of whatever is measured. A home keeps 256 MiB of choices, those that were measured last.
// Choices are recorded only with a measurement that is paid for.
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

// paid keeps choices before they are measured. It keeps nothing unless the measurement replays a release, or the budget
// covers its price. So those who cannot pay cannot fill the home.
func (c *Session) paid(of *release.Linear, choices ...Choice) {
	choices = slices.DeleteFunc(choices, func(k Choice) bool { return k.Data == nil })
	if len(choices) == 0 {
		return
	}
	replays, err := c.kernel.Explicable(of.Look())
	if err == nil && !replays {
		var room privacy.Loss
		room, err = c.kernel.Room(of.Look())
		replays = err == nil && of.Plan().Price.Within(room)
	}
	if err != nil || !replays {
		return
	}
	for _, k := range choices {
		c.keep(k)
	}
}

// keep records a choice, unless one is recorded for its text. It drops the choices that were measured least recently if
// all together have more than mostChoices bytes. It does nothing if the home cannot be written, or if the choice is too
// large.
func (c *Session) keep(choice Choice) {
	path, now := c.choiceFile(choice.Of), time.Now()
	if c.Choice(choice.Of) != nil {
		_ = os.Chtimes(path, now, now) // measured again: a home that cannot be written also drops nothing
		return
	}
	if len(choice.Data) > maxChoice || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), unfinishedChoice+"*") // with mode 0600
	if err != nil {
		return
	}
	defer os.Remove(f.Name()) //nolint:errcheck // dropChoices removes a file that is left behind
	_, err = f.WriteString(choiceHeader + digestOf(choice.Data) + "\n" + string(choice.Data))
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err != nil || closing != nil {
		return
	}
	// Link fails if another process recorded a choice first, which stays, or if the present one is damaged.
	if os.Link(f.Name(), path) != nil && c.Choice(choice.Of) == nil {
		_ = os.Rename(f.Name(), path) // without it, the next call chooses again
	}
	dropChoices(filepath.Dir(path), now)
}

// dropChoices removes the choices that were measured least recently until at most mostChoices bytes are left, and
// unfinished ones that are a day old. A dropped choice costs nothing on the computer that made it: it chooses the same
// integers again.
func dropChoices(folder string, now time.Time) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	var all []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil: // another process removed it
		case !strings.HasPrefix(e.Name(), unfinishedChoice):
			all = append(all, info)
		case now.Sub(info.ModTime()) > 24*time.Hour:
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) }) // the last one first
	sum := int64(0)
	for _, info := range all {
		if sum += max(info.Size(), leastChoice); sum > mostChoices {
			_ = os.Remove(filepath.Join(folder, info.Name()))
		}
	}
}

func (c *Session) choiceFile(of string) string {
	return filepath.Join(c.home, "choices", digestOf([]byte(of)))
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
