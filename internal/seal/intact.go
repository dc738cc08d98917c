package seal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// DamagedError reports a version whose file is missing, or does not hold the bytes that were sealed. It reveals
// nothing about rows.
type DamagedError struct {
	Table   string
	Number  int
	Message string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("table %q: version %d %s", e.Table, e.Number, e.Message)
}

func (v Version) damaged(message string) error { return &DamagedError{v.Table, v.Number, message} }

// Checks remembers which files were found to hold the sealed bytes. The zero value is ready to use. Several
// goroutines may use it.
//
// A file counts as checked while its device, inode, size, and times of modification and change stay the same. If
// the folder is writable, Checks also notes these in a file beside it, so that another process need not read a
// large file again. The note guards against damage only. It does not guard against a person who can write in the
// home, because that person could also replace the ledger. While a note exists, damage that leaves all these
// properties unchanged, such as a failing disk's, goes unnoticed. Verify always reads the bytes.
type Checks struct {
	mu    sync.Mutex
	known map[string]identity
}

// identity identifies a file, and changes when the file is written.
type identity struct {
	Device, Inode     uint64
	Bytes             int64
	Modified, Changed int64 // in nanoseconds
}

// noted is the content of the note beside a file.
type noted struct {
	Format int      `json:"format"`
	SHA256 string   `json:"sha256"`
	File   identity `json:"file"`
}

const notedFormat = 1

func noteFile(v Version) string {
	return strings.TrimSuffix(v.File, filepath.Ext(v.File)) + ".checked"
}

// Hold checks that a version's file holds the sealed bytes, and keeps the file from being removed until release is
// called. The error is a *DamagedError, or an error of ctx or of the file system.
func (c *Checks) Hold(ctx context.Context, v Version) (release func(), err error) {
	f, err := os.Open(v.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, v.damaged("is missing from the home: seal it again")
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if err := flock(f, syscall.LOCK_SH); err != nil {
		return nil, err
	}
	here, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if there, err := os.Stat(v.File); err != nil || !os.SameFile(here, there) {
		return nil, v.damaged("was removed or replaced just now: ask again")
	}
	if err := c.check(ctx, f, v); err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil // releases the lock
}

func (c *Checks) check(ctx context.Context, f *os.File, v Version) error {
	id, told := identify(f)
	if told && (c.knows(v, id) || isNoted(v, id)) {
		return nil
	}
	digest, err := digestFile(ctx, f)
	if err != nil {
		return err
	}
	if digest != v.SHA256 {
		return v.damaged("does not hold the bytes that were sealed: restore its file, or seal it again")
	}
	if after, still := identify(f); told && still && after == id {
		c.mu.Lock()
		if c.known == nil {
			c.known = map[string]identity{}
		}
		c.known[v.File+" "+v.SHA256] = id
		c.mu.Unlock()
		note(v, id)
	}
	return nil
}

func (c *Checks) knows(v Version, id identity) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known[v.File+" "+v.SHA256]
	return ok && known == id
}

func isNoted(v Version, id identity) bool {
	text, err := os.ReadFile(noteFile(v))
	var n noted
	return err == nil && json.Unmarshal(text, &n) == nil && n == noted{notedFormat, v.SHA256, id}
}

// note writes the note, and ignores errors: without a note the file is read again.
func note(v Version, id identity) {
	text, err := json.Marshal(noted{notedFormat, v.SHA256, id})
	if err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(v.File), tempPrefix+"*")
	if err != nil {
		return
	}
	_, err = f.Write(append(text, '\n'))
	if closing := f.Close(); err != nil || closing != nil || os.Rename(f.Name(), noteFile(v)) != nil {
		_ = os.Remove(f.Name())
	}
}

// notePublished writes the note for a file that was just written, digested and renamed.
func notePublished(v Version) {
	if f, err := os.Open(v.File); err == nil {
		if id, told := identify(f); told {
			note(v, id)
		}
		_ = f.Close()
	}
}

// digestFile returns the SHA-256 of a file's content.
func digestFile(ctx context.Context, f *os.File) (string, error) {
	h := sha256.New()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if _, err := io.Copy(h, &meter{in: f, ctx: ctx}); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}
