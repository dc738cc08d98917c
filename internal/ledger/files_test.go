package ledger

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestHeadFile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"empty", "", ErrHeadUnreadable},
		{"garbage", "head", ErrHeadUnreadable},
		{"long", strings.Repeat("1", 200), ErrHeadUnreadable},
		{"leading zero", "06:" + digest, ErrHeadUnreadable},
		{"upper case", "6:" + strings.ToUpper(digest), ErrHeadUnreadable},
	} {
		dir, _ := history7(t)
		writeFile(t, dir, headName, []byte(c.text))
		if err := openBoth(t, dir); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	dir, _ := history7(t)
	kept, err := Verify(dir, nil)
	must(t, err)
	head := kept.State.Head
	must(t, os.Remove(filepath.Join(dir, headName)))
	if err := openBoth(t, dir); !errors.Is(err, ErrHeadMissing) {
		t.Error(err)
	}
	writeFile(t, dir, headName, []byte(head.String())) // restored from what was printed, without its newline
	must(t, openBoth(t, dir))
	must(t, os.Remove(filepath.Join(dir, headName)))
	must(t, os.Mkdir(filepath.Join(dir, headName), 0o700))
	if err := openBoth(t, dir); !errors.Is(err, ErrNotFile) {
		t.Error(err)
	}
	for name, h := range map[string]Head{"future": {7, head.Hash}, "other": {5, head.Hash}} {
		var back *RolledBackError
		writeFile(t, mustEmptyHead(t, dir), headName, []byte(h.String()))
		if err := openBoth(t, dir); !errors.As(err, &back) || back.Want != h {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func mustEmptyHead(t *testing.T, dir string) string {
	t.Helper()
	must(t, os.RemoveAll(filepath.Join(dir, headName)))
	return dir
}

// TestUnderTheHandle: what happens to the files while a ledger is open is seen by the next call.
func TestUnderTheHandle(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(dir string) error
		want error // nil is a rollback
	}{
		{"log deleted", func(dir string) error { return os.Remove(filepath.Join(dir, logName)) }, ErrMoved},
		{"log replaced", func(dir string) error {
			data, err := os.ReadFile(filepath.Join(dir, logName))
			if err != nil {
				return err
			}
			if err := os.Remove(filepath.Join(dir, logName)); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, logName), data, 0o600)
		}, ErrMoved},
		{"head deleted", func(dir string) error { return os.Remove(filepath.Join(dir, headName)) }, ErrHeadMissing},
		{"log truncated", func(dir string) error { return os.Truncate(filepath.Join(dir, logName), 100) }, nil},
	} {
		dir, l := begin(t, "1", "0.5")
		paid := mustReserve(t, l, key(1), "0.1")
		must(t, c.do(dir))
		_, reserving := l.Reserve(reservation(key(2), "0.1"))
		_, stating := l.State()
		for _, err := range []error{reserving, stating, l.Release(paid, values(1))} {
			var back *RolledBackError
			if c.want != nil && !errors.Is(err, c.want) || c.want == nil && !errors.As(err, &back) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// TestForeignTruncation: another handle, which had not read the newest entry, sees that it was cut off.
func TestForeignTruncation(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	behind := mustOpen(t, dir)
	size := int64(len(readLog(t, dir)))
	mustReserve(t, l, key(1), "0.1")
	must(t, os.Truncate(filepath.Join(dir, logName), size))
	var back *RolledBackError
	if _, err := behind.Reserve(reservation(key(2), "0.1")); !errors.As(err, &back) {
		t.Error(err)
	}
}

func TestNotALedger(t *testing.T) {
	dir := t.TempDir()
	if err := openBoth(t, dir); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	writeFile(t, dir, headName, []byte("0:"+digest)) // the log was deleted; its head says that there was one
	if err := openBoth(t, dir); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	must(t, os.Mkdir(filepath.Join(dir, logName), 0o700))
	if err := openBoth(t, dir); !errors.Is(err, ErrNotFile) {
		t.Error(err)
	}
}

func TestReadOnlyHome(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere; TestEveryStepFails fails the opening")
	}
	dir, _ := history7(t)
	must(t, os.Chmod(filepath.Join(dir, logName), 0o400))
	if _, err := Open(dir, clock); !errors.Is(err, os.ErrPermission) {
		t.Error(err)
	}
	if _, err := Verify(dir, nil); err != nil {
		t.Error(err)
	}
}

// TestFullDisk writes to a device that is always full.
func TestFullDisk(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	l.file = fullFile{l.file.(systemFile), full}
	_, err = l.Reserve(reservation(key(1), "0.1"))
	if !errors.Is(err, ErrFull) || !errors.Is(err, ErrNotWritten) || !strings.Contains(err.Error(), "no space left") {
		t.Error(err)
	}
	wantEpsilon(t, "spent, as the handle says", mustState(t, l).Spent, "0")
	wantEpsilon(t, "spent", mustState(t, mustOpen(t, dir)).Spent, "0")
}

// fullFile reads from a file and writes to a full one.
type fullFile struct {
	systemFile
	full *os.File
}

func (f fullFile) Write(p []byte) (int, error) { return f.full.Write(p) }

func TestLongLine(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	paid := mustReserve(t, l, key(1), "0.1")
	if err := l.Release(paid, json.RawMessage(`"`+strings.Repeat("x", maxLine)+`"`)); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	must(t, l.Release(paid, json.RawMessage(`"`+strings.Repeat("x", 5<<20)+`"`)))
	must(t, openBoth(t, dir))
	long, err := os.OpenFile(filepath.Join(dir, logName), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	must(t, long.Truncate(1<<30)) // sparse: a line of zeros
	must(t, long.Close())
	var corrupt *CorruptError
	if err := openBoth(t, dir); !errors.As(err, &corrupt) || !errors.Is(err, errTooLong) {
		t.Error(err)
	}
}

// imageFS is a file system that is read-only and has no sync, as those of images have none.
type imageFS struct{ system }

type imageFile struct{ systemFile }

func (imageFS) Open(name string, flag int, perm fs.FileMode) (file, error) {
	if flag&(os.O_RDWR|os.O_WRONLY|os.O_CREATE) != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EROFS}
	}
	f, err := system{}.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return imageFile{f.(systemFile)}, nil
}

func (imageFile) Sync() error { return syscall.EINVAL }

// A home on such a file system tells what it has, as any that is read-only.
func TestReadOnlyImage(t *testing.T) {
	dir, l := begin(t, "1", "1")
	must(t, l.Release(mustReserve(t, l, key(1), "0.1"), values(1)))
	must(t, l.Close())
	l, err := open(imageFS{}, dir, clock)
	must(t, err)
	if _, ok, err := l.Find(key(1)); !ok || err != nil {
		t.Error(ok, err)
	}
	if _, err := l.Reserve(reservation(key(2), "0.1")); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	must(t, l.Close())
}
