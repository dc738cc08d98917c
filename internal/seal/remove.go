package seal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Remove deletes the file of an old version from the home. The manifest keeps the version's entry with its digest
// and counts. So its number is never reused, and a source is still recognised by its digest. Remove refuses the
// newest version, and a version that a question is reading. Removing a version again is no error, because a crash
// may have left its file.
func Remove(ctx context.Context, home, table string, number int) error {
	home, err := filepath.Abs(home)
	if err != nil {
		return err
	}
	shelf, err := lockShelf(ctx, home, table)
	if err != nil {
		return err
	}
	defer shelf.unlock()
	published, err := shelf.read()
	if err != nil {
		return err
	}
	for i := range published {
		v := &published[i]
		switch {
		case v.Number != number:
			continue
		case i == len(published)-1:
			return fmt.Errorf("table %q: version %d is the newest, which questions read", table, number)
		}
		unlock, err := v.lockFile()
		if err != nil {
			return err
		}
		defer unlock()
		if !v.Removed {
			v.Removed = true
			text, err := encodeManifest(table, published)
			if err != nil {
				return err
			}
			if err := replaceFile(filepath.Join(shelf.folder, "manifest.json"), text); err != nil {
				return err
			}
		}
		return v.unlink()
	}
	return fmt.Errorf("table %q has no version %d", table, number)
}

// Numbers returns the published versions of a table whose files are in the home, the oldest first. It includes a
// version whose removal was interrupted before its file was deleted.
func Numbers(home, table string) (numbers []int, err error) {
	home, err = filepath.Abs(home)
	if err != nil {
		return nil, err
	}
	published, err := readManifest(folderOf(home, table), table)
	for _, v := range published {
		if _, missing := os.Lstat(v.File); !v.Removed || missing == nil {
			numbers = append(numbers, v.Number)
		}
	}
	return numbers, err
}

// lockFile keeps questions from starting to read a version's file. It returns an error if a question is reading it.
func (v Version) lockFile() (unlock func(), err error) {
	f, err := os.Open(v.File)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	if err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("table %q: a question is reading version %d: try again when it is answered",
				v.Table, v.Number)
		}
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// unlink deletes a version's file, and all files beside it whose names extend its name.
func (v Version) unlink() error {
	stem := strings.TrimSuffix(v.File, filepath.Ext(v.File))
	// stem has no pattern characters: the folder's name has only letters, digits, _ and -, and a home's path has
	// none
	beside, err := filepath.Glob(stem + ".*")
	if err != nil {
		return err
	}
	for _, name := range beside {
		if removing := os.Remove(name); removing != nil && !errors.Is(removing, fs.ErrNotExist) {
			err = errors.Join(err, removing)
		}
	}
	return errors.Join(err, syncFolder(filepath.Dir(v.File)))
}
