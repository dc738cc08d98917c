package seal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"dither/internal/policy"
)

// shelf is the folder of one table, locked for one sealing.
type shelf struct {
	folder string
	table  string
	lock   *os.File
}

const tempPrefix = ".sealing-"

// lockShelf creates the table's folder if needed, waits for its lock, and removes the files that a killed sealing
// left.
func lockShelf(ctx context.Context, home, table string) (*shelf, error) {
	s := &shelf{folder: folderOf(home, table), table: table}
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return nil, fmt.Errorf("the home cannot be written: %w", err)
	}
	var err error
	if s.lock, err = lockFile(ctx, filepath.Join(s.folder, "lock")); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("the home cannot be written: %w", err)
	}
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		s.unlock()
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			_ = os.Remove(filepath.Join(s.folder, e.Name()))
		}
	}
	return s, nil
}

// lockFile opens a file, and waits for its exclusive lock. Closing the file, or the end of the process, releases
// the lock.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *shelf) unlock() { _ = s.lock.Close() }

func (s *shelf) read() ([]Version, error) { return readManifest(s.folder, s.table) }

// reusable returns the newest version, and whether it may have been made from this source under this declaration.
func (s *shelf) reusable(published []Version, t *policy.Table, src *source) (Version, bool) {
	if len(published) == 0 {
		return Version{}, false
	}
	v := published[len(published)-1]
	if v.Schema != schemaDigest(t) || v.SourceBytes != src.size || !v.holds(t) ||
		Verify(context.Background(), v) != nil {
		return Version{}, false
	}
	return v, true
}

// temp creates an empty private file in the folder.
func (s *shelf) temp() (string, error) {
	f, err := os.CreateTemp(s.folder, tempPrefix+"*.parquet") // with mode 0600
	if err != nil {
		return "", fmt.Errorf("the home cannot be written: %w", err)
	}
	return f.Name(), f.Close()
}

// publish renames the finished file to its final name, and then adds its entry to the manifest atomically. A file
// without an entry is not published: the next sealing overwrites it.
func (s *shelf) publish(temp string, v Version, published []Version) (Version, error) {
	v.File = filepath.Join(s.folder, versionFile(v.Number, v.Live))
	var err error
	if v.SHA256, v.Bytes, err = syncFile(temp); err != nil {
		return Version{}, err
	}
	text, err := encodeManifest(s.table, append(published[:len(published):len(published)], v))
	if err != nil {
		return Version{}, err
	}
	if err := os.Rename(temp, v.File); err != nil {
		return Version{}, err
	}
	manifest := filepath.Join(s.folder, "manifest.json")
	if err := replaceFile(manifest, text); err != nil {
		if now, readErr := os.ReadFile(manifest); readErr == nil && !bytes.Equal(now, text) ||
			errors.Is(readErr, fs.ErrNotExist) {
			_ = os.Remove(v.File) // the version was not published. If the manifest may name the file, it stays
		}
		return Version{}, err
	}
	notePublished(v)
	return v, nil
}

// syncFile makes a file private and durable, and returns its digest and size.
func syncFile(path string) (digest string, size int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	if err := f.Chmod(0o600); err != nil {
		return "", 0, err
	}
	hash := sha256.New()
	if size, err = io.Copy(hash, f); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(hash.Sum(nil)), size, f.Sync()
}

// replaceFile writes a private file beside path, and renames it to path, durably. If only the folder's fsync fails,
// it returns the error, although the new content is in place and may be lost in a crash. At every time, path has
// either its complete old or its complete new content.
func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // fails harmlessly after the rename
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}
