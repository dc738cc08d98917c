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

// The head file has two slots, which are written in turn. If the write of one slot fails, the other slot still
// holds the previous head. Older programs kept one line of text in the file. This program reads that form too, and
// replaces it by slots before its first append.
const (
	slotSpace    = 4096 // bytes from one slot to the next, so that no disk block holds both
	slotText     = 256  // bytes of a slot that are written
	headFileSize = 2 * slotSpace
	slotMagic    = "dither-head "
	slotVersion  = "1"
	firstSeq     = 2   // sequence number of the newest slot of a new file
	maxTextHead  = 128 // more than the older form can have: 20 digits, a colon, 64 digits, a newline
)

// slot is the content of one slot of the head file. It names the entry that was the newest when the slot was
// written.
type slot struct {
	seq  uint64 // sequence number: 1 more than in the slot written before
	head Head
	end  int64 // offset in the log of the end of the entry's line, without its newline
	// charged says that a fragment of an interrupted write after the entry counts as spent, because an earlier
	// reader counted it so. Usually it is false.
	charged bool
}

// text returns the slot's encoding: a line of slotText bytes, with a checksum.
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

// parseSlot parses what the method slot.text wrote. For any other bytes, ok is false. For a slot of a newer version it
// returns ErrNewer.
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

// heads is the content of a head file.
type heads struct {
	slots  [2]slot
	valid  [2]bool
	raw    [2][]byte // the bytes of each slot
	newest int       // index of the newest valid slot
	old    bool      // the file has the older form; only slots[0] is used
}

func (h *heads) head() Head { return h.slots[h.newest].head }

// sure reports whether the newest slot is the last one that was written durably. This is known if the other slot
// has the preceding sequence number. A lost or half-written slot would leave a gap.
func (h *heads) sure() bool {
	return !h.old && h.valid[0] && h.valid[1] && h.slots[h.newest].seq == h.slots[1-h.newest].seq+1
}

// readHeads reads the head file of dir. It returns ErrHeadMissing, ErrHeadUnreadable, ErrNewer, or an error of the
// file system.
func readHeads(fsys fileSystem, dir string) (*heads, error) {
	f, err := fsys.Open(filepath.Join(dir, headName), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrHeadMissing
	}
	if err != nil {
		return nil, fmt.Errorf("reading ledger.head: %w", err)
	}
	defer func() { _ = f.Close() }() // error ignored: the file was only read
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

// advanced returns a copy of h in which s has replaced the older slot and is the newest slot.
func (h *heads) advanced(s slot) *heads {
	next, i := *h, 1-h.newest
	s.seq = h.slots[h.newest].seq + 1
	next.slots[i], next.valid[i], next.raw[i], next.newest = s, true, s.text(), i
	return &next
}

// writeSlot durably writes the text of slot i. It allocates nothing, because the slot's disk blocks exist since the
// file was created.
func writeSlot(fsys fileSystem, dir string, i int, text []byte) error {
	f, err := fsys.Open(filepath.Join(dir, headName), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err = writeAt(f, text, int64(i)*slotSpace); err == nil {
		err = f.Sync()
	}
	_ = f.Close() // error ignored: the data is synced
	return err
}

// syncHeads makes the present content of the head file durable.
func syncHeads(fsys fileSystem, dir string) error {
	f, err := fsys.Open(filepath.Join(dir, headName), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	_ = f.Close() // error ignored: the file was only read
	return err
}

// replaceHeads durably replaces the head file by one whose two slots both name the entry of s, and returns its
// content. The caller holds the lock, and has made the log durable up to that entry. At every moment the file is
// complete, old or new.
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

// writeAll writes data and syncs the file.
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
