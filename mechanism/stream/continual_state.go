package stream

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/big"
)

// A state is the private file of a stream ([Continual]) after one of its advances. It holds, in this order, a line with
// a [Header], the tally, a line with the closed periods' exact counts and the releases, and a SHA-256 of all of this.
// The tally has a record for each unit with rows in some version so far, in increasing order of the units' digests.

// Header identifies a state. It contains nothing about rows.
type Header struct {
	Format   int    `json:"format"`
	Stream   string `json:"stream"`             // identifies the reservation that paid for the stream
	State    string `json:"state"`              // random; the ledger names it beside the releases
	Previous string `json:"previous,omitempty"` // the State that this one follows; "" for the first
	Version  int    `json:"version"`            // the newest version of the table whose rows were counted or seen
	Salt     string `json:"salt"`               // secret and random; part of what digests of units and rows cover
	// Pending marks the state of a stream whose earlier rows are not noted yet. No advance starts from it.
	Pending bool `json:"pending,omitempty"`
}

// HeaderFormat is the format of states that this program writes and reads.
const HeaderFormat = 1

// ErrState reports a state that is damaged, or does not fit its stream. It says nothing about rows.
var ErrState = errors.New("the private file of the stream is damaged")

// periods is the part of a state after the tally.
type periods struct {
	Exact    [][]string `json:"exact"`    // by period and cell: the frozen exact counts
	Released [][]string `json:"released"` // by period and cell: the releases y
}

// unitTally is a unit's record in a tally.
type unitTally struct {
	unit [16]byte
	used int64 // how many of its rows have counted; never lowered
	// for each identity, the most rows that some version had; never lowered, and empty once no further row may count
	seen []seenRow
}

type seenRow struct {
	row   [16]byte
	count int64
}

const (
	recordFollows = 1
	tallyEnds     = 0
)

// stateWriter writes a state.
type stateWriter struct {
	to  *bufio.Writer
	sum hash.Hash
}

func newStateWriter(to io.Writer, h Header) (*stateWriter, error) {
	w := &stateWriter{sum: sha256.New()}
	w.to = bufio.NewWriterSize(io.MultiWriter(to, w.sum), 1<<16)
	return w, w.line(h)
}

// line writes a value as a line of JSON.
func (w *stateWriter) line(v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		_, err = w.to.Write(append(text, '\n'))
	}
	return err
}

// unit writes the record of a unit.
func (w *stateWriter) unit(t unitTally) error {
	b := append([]byte{recordFollows}, t.unit[:]...)
	b = binary.AppendUvarint(b, uint64(t.used))
	b = binary.AppendUvarint(b, uint64(len(t.seen)))
	for _, s := range t.seen {
		b = binary.AppendUvarint(append(b, s.row[:]...), uint64(s.count))
	}
	_, err := w.to.Write(b)
	return err
}

// end writes the periods and the digest.
func (w *stateWriter) end(to io.Writer, p periods) error {
	if err := w.to.WriteByte(tallyEnds); err != nil {
		return err
	}
	if err := w.line(p); err != nil {
		return err
	}
	if err := w.to.Flush(); err != nil {
		return err
	}
	_, err := to.Write(w.sum.Sum(nil))
	return err
}

// stateReader reads a state.
type stateReader struct {
	from   *bufio.Reader
	sum    hash.Hash
	header Header
	next   *unitTally // the next unit of the tally; nil after the last
	last   *[16]byte
}

// newStateReader reads the header and the first record.
func newStateReader(from io.Reader) (*stateReader, error) {
	r := &stateReader{from: bufio.NewReaderSize(from, 1<<16), sum: sha256.New()}
	if err := r.line(&r.header); err != nil {
		return nil, err
	}
	if r.header.Format != HeaderFormat {
		return nil, fmt.Errorf("%w: its format is %d", ErrState, r.header.Format)
	}
	return r, r.step()
}

// line reads a line of JSON.
func (r *stateReader) line(into any) error {
	text, err := r.from.ReadBytes('\n')
	if err != nil {
		return damaged(err)
	}
	_, _ = r.sum.Write(text) // a hash's Write never fails
	if err := json.Unmarshal(text, into); err != nil {
		return ErrState // the text of the error could quote the file
	}
	return nil
}

// ReadByte reads a byte of the tally.
func (r *stateReader) ReadByte() (byte, error) {
	b, err := r.from.ReadByte()
	if err == nil {
		_, _ = r.sum.Write([]byte{b})
	}
	return b, err
}

func (r *stateReader) digest() (d [16]byte, err error) {
	_, err = io.ReadFull(r.from, d[:])
	_, _ = r.sum.Write(d[:])
	return d, err
}

// number reads an integer from 0 to 2^62.
func (r *stateReader) number() (int64, error) {
	n, err := binary.ReadUvarint(r)
	if err == nil && n > 1<<62 {
		err = ErrState
	}
	return int64(n), err
}

// step reads the next record of the tally.
func (r *stateReader) step() error {
	r.next = nil
	b, err := r.ReadByte()
	if err != nil || b != recordFollows {
		if err == nil && b != tallyEnds {
			err = ErrState
		}
		return damaged(err)
	}
	var t unitTally
	if t.unit, err = r.digest(); err != nil {
		return damaged(err)
	}
	if r.last != nil && string(r.last[:]) >= string(t.unit[:]) {
		return ErrState
	}
	if t.used, err = r.number(); err != nil {
		return damaged(err)
	}
	n, err := r.number()
	if err != nil {
		return damaged(err)
	}
	for range n {
		var s seenRow
		if s.row, err = r.digest(); err != nil {
			return damaged(err)
		}
		if s.count, err = r.number(); err != nil {
			return damaged(err)
		}
		t.seen = append(t.seen, s)
	}
	r.next, r.last = &t, &t.unit
	return nil
}

// end reads the periods after the tally, and compares the digest.
func (r *stateReader) end() (p periods, err error) {
	for r.next != nil {
		if err := r.step(); err != nil {
			return p, err
		}
	}
	if err := r.line(&p); err != nil {
		return p, err
	}
	var d [sha256.Size]byte
	if _, err := io.ReadFull(r.from, d[:]); err != nil {
		return p, damaged(err)
	}
	if [sha256.Size]byte(r.sum.Sum(nil)) != d {
		return p, ErrState
	}
	return p, nil
}

// damaged turns the end of a file into ErrState, and keeps other errors.
func damaged(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrState
	}
	return err
}

// numbers parses a table with the given number of columns.
func numbers(rows [][]string, columns int) ([][]*big.Int, error) {
	out := make([][]*big.Int, len(rows))
	for i, row := range rows {
		if len(row) != columns {
			return nil, ErrState
		}
		for _, text := range row {
			n, ok := new(big.Int).SetString(text, 10)
			if !ok {
				return nil, ErrState
			}
			out[i] = append(out[i], n)
		}
	}
	return out, nil
}

// texts writes a table of numbers in decimal.
func texts(rows [][]*big.Int) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		for _, n := range row {
			out[i] = append(out[i], n.String())
		}
	}
	return out
}
