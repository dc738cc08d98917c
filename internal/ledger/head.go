package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The head file has two slots, written in turn: whatever happens to a write, the other slot holds the previous head.
// Older programs kept one line of text there. This program reads it too, and replaces it by slots before the first
// append.
const (
	slotSpace    = 4096 // from one slot to the next, so that no block of a disk holds both
	slotText     = 256  // of these, the bytes written
	headFileSize = 2 * slotSpace
	slotMagic    = "dither-head "
	slotVersion  = "1"
	firstSeq     = 2   // of the newest slot of a new file
	maxTextHead  = 128 // more than the longest text of older programs: 20 digits, a colon, 64 digits, a newline
)

// slot is one of the two: the newest entry at some moment.
type slot struct {
	seq  uint64 // one more than in the slot written before
	head Head
	end  int64 // of the entry's line in the log, without its newline
	// charged says whether a fragment after the entry costs its price. Usually it does not; but a fragment that once
	// counted as spent continues to count.
	charged bool
}

// text writes a slot: a line of slotText bytes, with a checksum.
func (s slot) text() []byte {
	costs := "free"
	if s.charged {
		costs = "charged"
	}
	line := fmt.Sprintf(slotMagic+slotVersion+" %d %s %d %s ", s.seq, s.head, s.end, costs)
	sum := Hash(sha256.Sum256([]byte(line)))
	line += sum.String()
	return []byte(line + strings.Repeat(" ", slotText-1-len(line)) + "\n")
}

// parseSlot parses the output of text, byte for byte; ok is false for anything else. It returns ErrNewer for a slot of
// a newer version.
func parseSlot(text []byte) (s slot, ok bool, err error) {
	rest, ours := bytes.CutPrefix(text, []byte(slotMagic))
	if version, _, _ := bytes.Cut(rest, []byte(" ")); ours && len(version) < 4 && string(version) > slotVersion {
		return slot{}, false, ErrNewer
	}
	fields := strings.Fields(string(text))
	if len(fields) != 7 {
		return slot{}, false, nil
	}
	if s.head, err = ParseHead(fields[3]); err != nil {
		return slot{}, false, nil
	}
	if _, err := fmt.Sscanf(fields[2]+" "+fields[4], "%d %d", &s.seq, &s.end); err != nil || s.end < 0 {
		return slot{}, false, nil
	}
	s.charged = fields[5] == "charged"
	return s, bytes.Equal(s.text(), text), nil
}

// heads is a head file as it was read.
type heads struct {
	slots  [2]slot
	valid  [2]bool
	raw    [2][]byte // of each slot
	newest int       // of the slots, a valid one
	old    bool      // the file is of the older form, and slots[0] is its only one
}

func (h *heads) head() Head { return h.slots[h.newest].head }

// sure reports whether the newest slot is the last one that was written durably: the other slot is its predecessor. A
// slot that was lost, or half written, leaves a gap.
func (h *heads) sure() bool {
	return !h.old && h.valid[0] && h.valid[1] && h.slots[h.newest].seq == h.slots[1-h.newest].seq+1
}

// readHeads reads the head file of dir.
func readHeads(fsys fileSystem, dir string) (*heads, error) {
	f, err := fsys.Open(filepath.Join(dir, headName), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrHeadMissing
	}
	if err != nil {
		return nil, fmt.Errorf("reading ledger.head: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	size, err := f.Size()
	if err != nil {
		return nil, fmt.Errorf("reading ledger.head: %w", err)
	}
	if size > maxTextHead && size != headFileSize {
		return nil, ErrHeadUnreadable
	}
	text := make([]byte, size)
	if n, err := f.ReadAt(text, 0); n < len(text) && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading ledger.head: %w", err)
	}
	return parseHeads(text)
}

func parseHeads(text []byte) (*heads, error) {
	if len(text) != headFileSize {
		head, err := ParseHead(string(text))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrHeadUnreadable, err)
		}
		return &heads{slots: [2]slot{{head: head}}, old: true}, nil
	}
	h := &heads{}
	for i := range h.slots {
		var err error
		h.raw[i] = text[i*slotSpace:][:slotText]
		if h.slots[i], h.valid[i], err = parseSlot(h.raw[i]); err != nil {
			return nil, err
		}
	}
	switch {
	case !h.valid[0] && !h.valid[1]:
		return nil, ErrHeadUnreadable
	case !h.valid[0] || h.valid[1] && h.slots[1].seq > h.slots[0].seq:
		h.newest = 1
	}
	return h, nil
}

// advanced is h with a newer head in the slot that was the older one.
func (h *heads) advanced(to slot) *heads {
	next, i := *h, 1-h.newest
	to.seq = h.slots[h.newest].seq + 1
	next.slots[i], next.valid[i], next.raw[i], next.newest = to, true, to.text(), i
	return &next
}

// writeSlot writes the text of one slot, durably. The slot's blocks exist since the file was made.
func writeSlot(fsys fileSystem, dir string, i int, text []byte) error {
	f, err := fsys.Open(filepath.Join(dir, headName), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err = writeAt(f, text, int64(i)*slotSpace); err == nil {
		err = f.Sync()
	}
	_ = f.Close() // what was synced is durable
	return err
}

// syncHeads makes the head file durable in its present state.
func syncHeads(fsys fileSystem, dir string) error {
	f, err := fsys.Open(filepath.Join(dir, headName), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	_ = f.Close() // it was only read
	return err
}

// replaceHeads replaces the head file durably by one with both slots, of which the older names the same entry, and
// returns its content. The caller holds the lock, and has made the log durable up to the entry. At every moment the
// name holds one complete file, the old one or the new one.
func replaceHeads(fsys fileSystem, dir string, s slot) (*heads, error) {
	before := s
	before.seq, s.seq = firstSeq-1, firstSeq
	data := bytes.Repeat([]byte(" "), headFileSize)
	copy(data, before.text())
	copy(data[slotSpace:], s.text())
	data[slotSpace-1], data[headFileSize-1] = '\n', '\n'
	if err := replaceFile(fsys, dir, headName, data); err != nil {
		return nil, err
	}
	return parseHeads(data)
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
