package ledger

import (
	"errors"
	"syscall"
)

// space is the disk space that a handle has reserved on the file system, for entries that may still follow its open
// reservations. Several handles on one log use each other's space. If the disk is full, another handle may have
// used up the space, except for the part added by rounding up to chunk. A release then fails and its price stays
// spent, but the ledger stays correct.
type space struct {
	end     int64            // offset to which the log can grow
	cannot  bool             // whether the file system cannot reserve space
	follows map[uint64]int64 // reservation → bytes that may still follow it
	sum     int64            // sum of follows
}

const (
	// frameSize exceeds the size of a failure, and of a release without its values.
	frameSize = 256
	// stepSize exceeds the size of a step, and of the entry for a cancelled step.
	stepSize = 8 << 10
	// chunk is the unit to which reserved space is rounded up, if the disk has that much.
	chunk = 64 << 10
	// maxFollows is the most space that is reserved for one reservation.
	maxFollows = 8 << 20
	// giveBack is the most space that stays reserved when no reservation is open.
	giveBack = 1 << 20
)

// errNoAllocate reports that this file system cannot reserve space.
var errNoAllocate = errors.New("the file system cannot reserve space")

func followsOf(most int64) int64 { return min(max(most, 0), maxFollows) + frameSize }

// assure reserves n bytes of disk space that begin at the offset `from`, and after them as many bytes as the parameter
// `more` says, for later entries. If the file system cannot reserve space, assure returns nil.
func (s *space) assure(f file, from, n, more int64) error {
	end := from + n + more
	if s.cannot || end <= s.end {
		return nil
	}
	for _, end := range []int64{(end + chunk - 1) / chunk * chunk, end} {
		err := f.Allocate(from, end)
		switch {
		case err == nil:
			s.end = end
			return nil
		case errors.Is(err, errNoAllocate):
			s.cannot = true
			return nil
		case !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !errors.Is(err, syscall.EFBIG):
			return err
		case end == from+n+more:
			return err
		}
	}
	return nil
}

// MakeRoom reserves disk space for the next step of a reservation, or for the entry that the step was cancelled.
// Call it before rows are read for the step. It returns ErrFull or ErrNotWritten. If the file system cannot reserve
// space, it returns nil.
func (l *Ledger) MakeRoom(reservation uint64) error {
	return l.locked(func() error {
		before := l.space.follows[reservation]
		l.space.set(reservation, max(before, stepSize))
		if err := l.space.assure(l.file, l.log.size, 0, l.space.sum); err != nil {
			l.space.set(reservation, before) // otherwise later calls would also need this space
			return notWritten(err)
		}
		return nil
	})
}

// note updates the reserved disk space for an entry that was written. A reservation keeps its space until its release
// or failure.
func (s *space) note(m *member, written int64) {
	switch b := m.body.(type) {
	case Reservation:
		s.set(m.index, followsOf(m.most))
	case Step:
		s.use(b.Reservation, written)
	case StepGivenUp:
		s.use(b.Reservation, written)
	case Release:
		s.set(b.Reservation, 0)
	case Failure:
		s.set(b.Reservation, 0)
	}
}

// use subtracts the bytes written for an open reservation from its space.
func (s *space) use(reservation uint64, written int64) {
	if left, ours := s.follows[reservation]; ours {
		s.set(reservation, max(left-written, frameSize))
	}
}

func (s *space) set(reservation uint64, bytes int64) {
	s.sum += bytes - s.follows[reservation]
	switch {
	case bytes <= 0:
		delete(s.follows, reservation)
	case s.follows == nil:
		s.follows = map[uint64]int64{reservation: bytes}
	default:
		s.follows[reservation] = bytes
	}
}
