package release

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dither/mechanism"
	"dither/mechanism/stream"
)

// arrivals names the exact rows that an engine passes to the mechanism.
type arrivals = mechanism.Arrivals

// noArrivals is an [arrivals] without rows.
var noArrivals arrivals

// stateFile is the file that a new private state is written to.
type stateFile = io.Writer

// ErrStream reports a private file of a stream that does not match the ledger.
var ErrStream = errors.New("the private file of the stream does not match the ledger")

// statePath returns the path of a stream's private file. The name has part of the hash of the reservation's entry, so
// that no other ledger's stream has the same file.
func (k *Kernel) statePath(r *ContinualRecord) string {
	return filepath.Join(k.home, "streams", fmt.Sprintf("r%d-%s.state", r.ID, r.entry.String()[:16]))
}

// unsaved is a complete and durable file that is not yet in its place.
type unsaved struct {
	temp, path string
}

// discard removes the file.
func (u *unsaved) discard() { _ = os.Remove(u.temp) }

const stateTemp = ".state-"

// writeState writes a private file beside its place, and makes it durable. The caller holds the stream's lock.
func (k *Kernel) writeState(r *ContinualRecord, write func(stateFile) error) (*unsaved, error) {
	path := k.statePath(r)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return writeBeside(path, write)
}

// writeBeside writes a durable file beside its place, with mode 0600.
func writeBeside(path string, write func(stateFile) error) (*unsaved, error) {
	f, err := os.CreateTemp(filepath.Dir(path), stateTemp+filepath.Base(path)+"-*")
	if err != nil {
		return nil, err
	}
	u := &unsaved{f.Name(), path}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		u.discard()
		return nil, err
	}
	return u, nil
}

// commit puts a written file in its place, durably.
func commit(u *unsaved, err error) error {
	if err != nil {
		return err
	}
	if err := os.Rename(u.temp, u.path); err != nil {
		u.discard()
		return err
	}
	dir := filepath.Dir(u.path)
	return errors.Join(syncFolder(dir), syncFolder(filepath.Dir(dir)))
}

// sweepStates removes the files that killed advances of a stream left. The caller holds the stream's lock.
func (k *Kernel) sweepStates(r *ContinualRecord) {
	path := k.statePath(r)
	dir, base := filepath.Split(path)
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), stateTemp+base+"-") {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// firstHeader returns the header of a stream's first private file. Its State is the hash of the reservation's entry, which
// the ledger has before any advance.
func firstHeader(r *ContinualRecord) stream.Header {
	return stream.Header{
		Format: stream.HeaderFormat, Stream: r.entry.String(), State: r.entry.String(), Salt: NewID() + NewID(),
	}
}

// reconcile compares the private file with the ledger. found is false if the rows of the first version are not noted yet,
// and nothing was released. If the file is one advance ahead of the ledger, that advance was interrupted before it was recorded, and
// reconcile records its releases, which nobody has seen. It never draws them again. If the file is older or newer than
// that, the file or the ledger was restored from a copy, and reconcile returns ErrStream.
func (c *Continual) reconcile(r *ContinualRecord) (h stream.Header, found bool, err error) {
	f, err := os.Open(c.kernel.statePath(r))
	if errors.Is(err, fs.ErrNotExist) {
		if len(r.Advances) == 0 && !r.begun {
			return h, false, nil
		}
		return h, false, fmt.Errorf("%w: it is missing", ErrStream)
	}
	if err != nil {
		return h, false, err
	}
	defer func() { _ = f.Close() }()
	if h, err = stream.HeaderOf(f); err != nil {
		return h, false, fmt.Errorf("%w: %w", ErrStream, err)
	}
	if h.Stream != r.entry.String() {
		return h, false, fmt.Errorf("%w: it belongs to another stream", ErrStream)
	}
	if h.State == r.state() {
		return h, !h.Pending, nil
	}
	if h.Previous != r.state() {
		return h, false, fmt.Errorf("%w: the file or the ledger was restored from a copy", ErrStream)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return h, false, err
	}
	_, y, err := c.noisy.Recorded(f)
	if err != nil {
		return h, false, fmt.Errorf("%w: %w", ErrStream, err)
	}
	if len(y) <= len(r.Released) {
		return h, false, ErrStream
	}
	return h, true, c.record(r, h, len(r.Released)+1, y[len(r.Released):])
}
