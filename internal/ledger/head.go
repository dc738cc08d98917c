package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxHeadFile is more than the longest head: 20 digits, a colon, 64 digits, a newline.
const maxHeadFile = 128

// readHead reads the head file of dir.
func readHead(fsys fileSystem, dir string) (Head, error) {
	f, err := fsys.Open(filepath.Join(dir, headName), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Head{}, ErrHeadMissing
	}
	if err != nil {
		return Head{}, fmt.Errorf("reading ledger.head: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	size, err := f.Size()
	if err != nil {
		return Head{}, fmt.Errorf("reading ledger.head: %w", err)
	}
	if size > maxHeadFile {
		return Head{}, ErrHeadUnreadable
	}
	text := make([]byte, size)
	if n, err := f.ReadAt(text, 0); n < len(text) && !errors.Is(err, io.EOF) {
		return Head{}, fmt.Errorf("reading ledger.head: %w", err)
	}
	head, err := ParseHead(string(text))
	if err != nil {
		return Head{}, fmt.Errorf("%w: %w", ErrHeadUnreadable, err)
	}
	return head, nil
}

// writeHead replaces the head file of dir, durably. The caller holds the lock and has made the log durable up to head:
// a head must never be ahead of the log. At every moment the name holds one whole head, the old one or the new one.
func writeHead(fsys fileSystem, dir string, head Head) error {
	temp := filepath.Join(dir, tempName)
	f, err := fsys.Open(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := writeAll(f, []byte(head.String()+"\n")); err != nil {
		_ = f.Close() // the write's error says more
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := fsys.Rename(temp, filepath.Join(dir, headName)); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

// writeAll writes and syncs.
func writeAll(f file, data []byte) error {
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return err
	}
	return f.Sync()
}
