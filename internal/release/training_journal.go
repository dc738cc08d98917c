package release

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"syscall"

	"dither/internal/ledger"
)

// journal is the file of a training's steps, beside the ledger, which has the digest of each: the noisy gradients
// themselves would be too long for it. A record is
//
//	its body's length (4 bytes), the body, and the digest of the digest before it and of the body (32 bytes),
//
// and the body the digest of θ (32 bytes) and the values as varints. So the digest of a record is that of all of them
// up to it, and of the reservation: what stands before the first is the hash of its entry, which no other ledger has,
// nor this one after it was set back. A record is durable before the ledger has its digest, and the ledger has that
// before the step is told.
type journal struct {
	file    *os.File
	last    digest  // of the last record
	records []place // of each record
	cells   int
}

type digest [sha256.Size]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// place is where a record is, and for which θ it was.
type place struct {
	at     int64 // of its body
	size   int
	theta  digest
	digest digest
}

// Reasons why a training's journal cannot be continued.
var (
	ErrJournal = errors.New("the journal of the training does not match the ledger")
	ErrBusy    = errors.New("the training goes on elsewhere")
)

// Turn waits until nobody else begins a training in this home. Close gives the turn back.
func (k *Kernel) Turn() (io.Closer, error) { return takeTurn(k.home) }

// takeTurn waits until nobody else begins a training in this home.
func takeTurn(home string) (*os.File, error) {
	f, err := openBeside(home, "begin")
	if err != nil {
		return nil, err
	}
	if err := await(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// openBeside opens a file of the folder of trainings, or makes it.
func openBeside(home, name string) (*os.File, error) {
	dir := filepath.Join(home, "training")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) { // it can be read again
		return os.Open(path)
	}
	return f, err
}

// openJournal opens the journal of a reservation, or makes an empty one, and holds it against all others until it is
// closed. What the ledger has of it is to be read after that, and matched: before, another process might have added to
// both.
func openJournal(home string, training uint64, entry ledger.Hash, cells int) (j *journal, err error) {
	f, err := openBeside(home, fmt.Sprintf("r%d.journal", training))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if err := hold(f); err != nil {
		return nil, err
	}
	for _, d := range []string{filepath.Join(home, "training"), home} { // the file's name, and the folder's
		if err := syncFolder(d); err != nil {
			return nil, err
		}
	}
	return &journal{file: f, cells: cells, last: digest(entry)}, nil
}

// match reads the records, and holds them to the digests that the ledger has. One record more may have been durable,
// and never told: it is kept, for the ledger to have, unless the training has ended. Where there are more, the ledger
// was set back since they were told, and nothing is drawn in their place. What is behind the last whole record was not
// written to its end, and is cut off.
func (j *journal) match(known []string, ended bool) error {
	end, err := j.scan()
	if err != nil {
		return err
	}
	most := len(known) + 1
	if ended {
		most = len(known)
	}
	if n := len(j.records); n < len(known) || n > most {
		return fmt.Errorf("%w: it has %d steps, and the ledger %d", ErrJournal, n, len(known))
	}
	for i, want := range known {
		if j.records[i].digest.String() != want {
			return fmt.Errorf("%w at step %d", ErrJournal, i+1)
		}
	}
	size, err := j.file.Seek(0, io.SeekEnd)
	if err == nil && size > end {
		if err = j.file.Truncate(end); errors.Is(err, syscall.EINVAL) { // it was opened to read: nothing comes behind it
			err = nil
		}
	}
	if err != nil {
		return err
	}
	_, err = j.file.Seek(end, io.SeekStart)
	return err
}

// scan finds the whole records, and where they end.
func (j *journal) scan() (end int64, err error) {
	r := bufio.NewReader(j.file)
	for {
		var length [4]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return end, ignoreEnd(err)
		}
		size := int64(binary.LittleEndian.Uint32(length[:]))
		if size < sha256.Size || size > int64(j.largest()) {
			return end, nil
		}
		body := make([]byte, size)
		var got digest
		if _, err := io.ReadFull(r, body); err != nil {
			return end, ignoreEnd(err)
		}
		if _, err := io.ReadFull(r, got[:]); err != nil {
			return end, ignoreEnd(err)
		}
		if got != chained(j.last, body) {
			return end, nil
		}
		p := place{at: end + 4, size: len(body), digest: got}
		copy(p.theta[:], body)
		j.records, j.last = append(j.records, p), got
		end += 4 + size + sha256.Size
	}
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// largest is the longest body.
func (j *journal) largest() int { return sha256.Size + j.cells*binary.MaxVarintLen64 }

func chained(last digest, body []byte) (d digest) {
	h := sha256.New()
	writeAll(h, last[:], body)
	h.Sum(d[:0])
	return d
}

func writeAll(h hash.Hash, parts ...[]byte) {
	for _, p := range parts {
		_, _ = h.Write(p) // which never fails
	}
}

// append makes a record durable.
func (j *journal) append(theta digest, values []*big.Int) (digest, error) {
	body := append(make([]byte, 0, j.largest()), theta[:]...)
	for _, v := range values {
		if !v.IsInt64() {
			return digest{}, errors.New("a step's noise is beyond 64 bits")
		}
		body = binary.AppendVarint(body, v.Int64())
	}
	d := chained(j.last, body)
	at, err := j.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return d, err
	}
	record := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	record = append(append(record, body...), d[:]...)
	if _, err := j.file.Write(record); err != nil {
		return d, err
	}
	if err := j.file.Sync(); err != nil {
		return d, err
	}
	j.last = d
	j.records = append(j.records, place{at: at + 4, size: len(body), theta: theta, digest: d})
	return d, nil
}

// read gives a record's values.
func (j *journal) read(p place) ([]*big.Int, error) {
	body := make([]byte, p.size)
	if _, err := j.file.ReadAt(body, p.at); err != nil {
		return nil, err
	}
	r := bytes.NewReader(body[sha256.Size:])
	out := make([]*big.Int, j.cells)
	for i := range out {
		v, err := binary.ReadVarint(r)
		if err != nil {
			return nil, ErrJournal
		}
		out[i] = big.NewInt(v)
	}
	if r.Len() > 0 {
		return nil, ErrJournal
	}
	return out, nil
}

// close gives the file back, and with it the lock.
func (j *journal) close() error { return j.file.Close() }

// parametersDigest is that of θ: of its doubles' bits, with −0 as 0.
func parametersDigest(theta []float64) (d digest) {
	h := sha256.New()
	var b [8]byte
	for _, x := range theta {
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(x+0))
		writeAll(h, b[:])
	}
	h.Sum(d[:0])
	return d
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	return errors.Join(err, f.Close())
}
