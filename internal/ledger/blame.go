package ledger

import (
	"errors"
	"fmt"
)

// errUnlinked reports an entry that has the next index, but does not follow the line before it.
var errUnlinked = errors.New("it does not follow the entry before it")

// blame decides which line was changed when an entry, line number, does not contain the hash of the line before it. The
// line after an entry contains that entry's hash. If the next line agrees with this one, the line before was changed;
// if not, this one was. Without a next line, it may be either.
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
					Err:  fmt.Errorf("line %d was written after another line than this one", number),
				}
			}
			return &CorruptError{
				Line: number,
				Err:  fmt.Errorf("neither does it follow line %d, nor the next line it", before),
			}
		}
	}
	return &CorruptError{
		Line: before, Or: number,
		Err: fmt.Errorf("line %d was not written after line %d as it stands", number, before),
	}
}
