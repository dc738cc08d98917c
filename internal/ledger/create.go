package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Create begins a ledger in the existing directory dir. id is 128 random bits in hexadecimal.
//
// Create overwrites nothing: it returns ErrExists if a log or a head file exists, even a damaged one. If it fails,
// it removes its own files. If the process is killed during Create, one of the two files may exist without the
// other. Nothing was reserved there, and the owner may delete the file.
func Create(dir, id string, now time.Time) error { return create(system{}, dir, id, now) }

func create(fsys fileSystem, dir, id string, now time.Time) (err error) {
	genesis := Genesis{ID: id}
	if err := genesis.validate(); err != nil {
		return err
	}
	line, err := encodeLine(0, Hash{}, now, genesis)
	if err != nil {
		return invalid("the time")
	}
	e, err := decodeLine(line)
	if err != nil {
		return err
	}
	logPath, headPath := filepath.Join(dir, logName), filepath.Join(dir, headName)
	if there, err := fsys.Exists(headPath); err != nil || there {
		return existing(headName, err)
	}
	f, err := fsys.Open(logPath, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return existing(logName, nil)
	}
	if err != nil {
		return fmt.Errorf("creating the ledger: %w", err)
	}
	// Another process may open the log before the head file exists. The lock makes it wait. If Create fails and
	// removes the log, that process then gets ErrMoved.
	if err = f.Lock(true); err == nil {
		if err = writeAll(f, append(line, '\n')); err == nil {
			_, err = replaceHeads(fsys, dir, slot{head: Head{Index: 0, Hash: e.Hash}, end: int64(len(line))})
		}
	}
	if err != nil {
		_ = fsys.Remove(headPath) // errors ignored: the first error is returned
		_ = fsys.Remove(logPath)
		_ = f.Close()
		return fmt.Errorf("creating the ledger: %w", err)
	}
	_ = f.Close() // error ignored: everything is durable already
	return nil
}

func existing(name string, err error) error {
	if err != nil {
		return fmt.Errorf("creating the ledger: %w", err)
	}
	return fmt.Errorf("%w: %s", ErrExists, name)
}
