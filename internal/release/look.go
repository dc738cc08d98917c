package release

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/ledger"
	"dither/internal/seal"
	"dither/internal/value"
	"dither/privacy"
)

// Look is one access to rows, decided: all that is known of it before anything is spent.
type Look struct {
	question   string               // as the ledger records it
	statements []*bounded.Statement // all that are carried out; the first one says whom the access is charged to
	price      privacy.Loss
	tables     []seal.Version // those that the first statement reads, in the order of its Tables
	key        string         // the replay key
	mechanisms []ledger.Mechanism
	analyst    string
	fresh      bool     // pay again and draw new noise, though it was released before
	everybody  bool     // charge everybody, whatever part the statement is confined to
	passes     int64    // about how often the rows are read, of what reads them often; 0 is once
	recalled   Recalled // what later questions find its answer by
	shape      [2]int   // of the numbers that are released, by row and column
	bytes      int64    // of values that are recorded after the reservation, at most
	steps      int64    // how many are recorded before its release, at most; 0 where it is no stream and no training
}

// Recalled has the facts that the ledger keeps beside a question. Later questions find its answer by them. Nothing
// that is released depends on them.
type Recalled struct {
	Caps    *ledger.Caps                         // named beside the question; nil for none
	Subject func(versions []int) *ledger.Subject // nil where no question follows from the answer
}

// copied is a look of the same values.
func (l *Look) copied() *Look {
	out := *l
	return &out
}

// Statements are all that are carried out. The first one says whom the access is charged to.
func (l *Look) Statements() []*bounded.Statement { return slices.Clone(l.statements) }

// Price is the loss that the access is charged.
func (l *Look) Price() privacy.Loss { return l.price }

// Tables are the sealed versions that the first statement reads, in the order of its Tables.
func (l *Look) Tables() []seal.Version { return slices.Clone(l.tables) }

// Key is the replay key.
func (l *Look) Key() string { return l.key }

// Fresh reports that the access is paid again, and draws new noise, though it was released before.
func (l *Look) Fresh() bool { return l.fresh }

// Shape is the number of rows and of columns of the released numbers.
func (l *Look) Shape() [2]int { return l.shape }

// Passes is about how often the rows are read; 0 is once.
func (l *Look) Passes() int64 { return l.passes }

// Primitive is one way to look at rows. Only this package implements it, since only this package can name access:
// whoever has a primitive has what was planned, and nothing that reads.
type Primitive interface {
	// Look is a copy of what is decided of the access. It is the same each time.
	Look() *Look
	// decided is what the kernel charges and carries out. It is unexported, and Look gives a copy, so that neither who
	// embeds a primitive nor who writes to a Look can change the price.
	decided() *Look
	// access reads rows and gives what the mechanisms released of them. It compares each mechanism with what the look
	// says of it. Its error may quote rows: it is for the owner's eyes only.
	access(ctx context.Context, rows reader) (Values, error)
	// encode writes values for the ledger, and decode reads them again.
	encode(Values) (json.RawMessage, error)
	decode(json.RawMessage) (Values, error)
}

// reader is how a primitive reads rows: an engine, and the sealed versions of the look's tables.
type reader struct {
	engine engine.Engine
	sealed engine.Sealed
	dir    string // for what does not fit into memory
}

// Values are the results that a primitive releases.
type Values struct {
	Numbers [][]*big.Int    // by row and column
	Groups  [][]value.Value // that were selected, in the order of their keys; nil where they are known
	Rows    int64           // the bound on rows that was found; 0 where none was looked for
}

// Released are values that the ledger has.
type Released struct {
	Values
	ID       uint64 // of the reservation
	Replayed bool
	From     []string // the releases that they were computed from, where they are none themselves
}

// Name is the name of the release: r and the number of its reservation in the ledger.
func (r *Released) Name() string { return fmt.Sprintf("r%d", r.ID) }

// numbers is the half of a primitive that releases numbers alone.
type numbersAlone struct{ look *Look }

// Look implements primitive.
func (n numbersAlone) Look() *Look { return n.look.copied() }

func (n numbersAlone) decided() *Look { return n.look }

//nolint:unparam // as Primitive has it
func (n numbersAlone) encode(v Values) (json.RawMessage, error) { return encode(v.Numbers), nil }

func (n numbersAlone) decode(text json.RawMessage) (v Values, err error) {
	v.Numbers, err = Decode(text, n.look.shape)
	return v, err
}

// Sources are the sealed versions that a look reads, for the ledger.
func (l *Look) Sources() (out []ledger.Source) {
	for _, v := range l.tables {
		out = append(out, ledger.Source{Table: v.Table, Version: v.Number})
	}
	return out
}

// tableNames are the names of the tables that a look reads.
func (l *Look) tableNames() (out []string) {
	for _, v := range l.tables {
		out = append(out, v.Table)
	}
	return out
}

// Versions are the numbers of the sealed versions that a look reads.
func (l *Look) Versions() (out []int) {
	for _, v := range l.tables {
		out = append(out, v.Number)
	}
	return out
}

// Confinement returns the table and the parts that a look is charged to; "" and nil if everybody is charged.
func (l *Look) Confinement() (table string, parts []string) {
	if len(l.statements) == 0 || l.everybody {
		return "", nil
	}
	return l.statements[0].Confinement()
}

const (
	// numberBytes is a released number with its quotes and commas: engines add up in 128 bits, which is 40 characters,
	// and noise moves the number beyond that with negligible probability alone.
	numberBytes = 48
	// stepBytes is the entry of a step with a question of usual length.
	stepBytes = 1 << 10
)

// bytesOf estimates the size of a release of so many rows and columns of numbers. The ledger reserves this room on the disk.
// No promise rests on it: an answer that is longer is recorded if there is room, and fails if there is none.
func bytesOf(rows, columns int) int64 { return int64(rows) * int64(columns+1) * numberBytes }

// most is how many bytes follow the reservation of a look, at most.
func (l *Look) most() int64 { return l.bytes + l.steps*stepBytes }
