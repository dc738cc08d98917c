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

// journal is the file of a training's steps. The noisy gradients are too long for the ledger, which only holds a
// digest of each step. A record is
//
//	the length of its body (4 bytes), the body, and a digest (32 bytes),
//
// and the body is the digest of θ, the step's parameters (32 bytes), and the values as varints. A record's digest
// covers the body and the digest before it. The first record follows the hash of the reservation's entry, so each
// digest covers the reservation and all records so far. No other ledger has that hash, nor does this ledger after an
// older copy of it was restored. A record becomes durable before the ledger has its digest, and the ledger has the
// digest before the step is returned.
type journal struct {
	file    *os.File
	last    digest  // the digest of the last record
	records []place // one for each record
	cells   int
}

type digest [sha256.Size]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// place is the position of a record in the journal's file, with the digest of the step's parameters.
type place struct {
	at     int64 // the offset of its body
	size   int
	theta  digest
	digest digest
}

// Reasons why a training's journal cannot be continued.
var (
	ErrJournal = errors.New("the journal of the training does not match the ledger")
	ErrBusy    = errors.New("the training is running in another process")
)

// Turn takes the lock under which trainings of this home begin, and waits while another process holds it. Close
// releases the lock.
func (k *Kernel) Turn() (io.Closer, error) { return takeTurn(k.home) }

// takeTurn takes the lock under which trainings of this home begin, and waits while another process holds it.
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

// openBeside opens or creates a file in the home's folder of trainings. If the folder is read-only, it opens the
// file for reading.
func openBeside(home, name string) (*os.File, error) {
	dir := filepath.Join(home, "training")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) { // a recorded training can still be read
		return os.Open(path)
	}
	return f, err
}

// openJournal opens or creates the journal of a reservation, and locks it until it is closed. The caller must read
// the ledger's steps after this call, since another process may have added steps before it. Then the caller must
// call match.
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
	// make the names of the file and the folder durable
	for _, d := range []string{filepath.Join(home, "training"), home} {
		if err := syncFolder(d); err != nil {
			return nil, err
		}
	}
	return &journal{file: f, cells: cells, last: digest(entry)}, nil
}

// match reads the journal's records, and compares them with the digests of steps in the ledger. The journal may have
// one record more: it was durable, but never returned. match keeps it, so that the caller can record it, unless the
// training has ended. With more than that, an older copy of the ledger was restored after steps were returned. Then
// match returns ErrJournal, and no new noise is drawn. match truncates anything after the last whole record, because it
// is an incomplete write.
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
		// the file is open for reading only, so nothing will be appended
		if err = j.file.Truncate(end); errors.Is(err, syscall.EINVAL) {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	_, err = j.file.Seek(end, io.SeekStart)
	return err
}

// scan finds the whole records, and returns the offset of their end.
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

// largest returns the length of the longest possible body.
func (j *journal) largest() int { return sha256.Size + j.cells*binary.MaxVarintLen64 }

func chained(last digest, body []byte) (d digest) {
	h := sha256.New()
	writeAll(h, last[:], body)
	h.Sum(d[:0])
	return d
}

func writeAll(h hash.Hash, parts ...[]byte) {
	for _, p := range parts {
		_, _ = h.Write(p) // a hash's Write never fails
	}
}

// append writes a record durably, and returns its digest.
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

// read returns the values of a record.
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

// close closes the file, which releases the lock.
func (j *journal) close() error { return j.file.Close() }

// parametersDigest returns the digest of the bits of θ's doubles, with −0 as 0.
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
