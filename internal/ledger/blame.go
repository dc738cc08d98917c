package ledger

import (
	"errors"
	"fmt"
)

// errUnlinked reports an entry that has the expected index, but does not contain the hash of the line before it.
var errUnlinked = errors.New("it does not follow the entry before it")

// blame returns a *CorruptError that names the line that was changed. It is called for an entry e, on line number,
// that does not contain the hash of the line before it. To decide between these two lines, blame reads the line
// after e. If that line contains e's hash, the line before e was changed. If not, e was changed. If there is no
// readable next entry, the error names both lines.
func (l *log) blame(r *lineReader, e Entry, number uint64) error {
	before := number - 1
	if n := len(l.refs); n > 0 {
		before = l.refs[n-1].line
	}
	line, _, err := r.next()
	for err == nil && len(line) == 0 {
		line, _, err = r.next()
	}
	if err == nil {
		if next, err := decodeLine(line); err == nil && next.Index == e.Index+1 {
			if next.Prev == e.Hash {
				return &CorruptError{
					Line: before,
					Err:  fmt.Errorf("line %d was written after a different line", number),
				}
			}
			return &CorruptError{
				Line: number,
				Err:  fmt.Errorf("it does not follow line %d, and the next line does not follow it", before),
			}
		}
	}
	return &CorruptError{
		Line: before, Or: number,
		Err: fmt.Errorf("line %d was not written after line %d as that line now reads", number, before),
	}
}
