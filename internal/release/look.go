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

// Look describes one access to rows before anything is spent: the statements, the price, the mechanisms and the
// replay key.
type Look struct {
	question string // the text that the ledger records
	// all statements of the access; the first one determines which parts (subsets of the units) are charged
	statements []*bounded.Statement
	price      privacy.Loss
	tables     []seal.Version // the versions that the first statement reads, in the order of its Tables
	key        string
	mechanisms []ledger.Mechanism
	analyst    string
	fresh      bool     // pay again and draw new noise, even if it was released before
	everybody  bool     // charge everybody, even if the statement is confined to parts (subsets of the units)
	passes     int64    // the approximate number of passes over the rows; 0 is one
	recalled   Recalled // the data by which later questions find the answer
	shape      [2]int   // the number of rows and of columns of the released numbers
	bytes      int64    // an estimate of the size of the values that are recorded after the reservation
	// for a stream or a training, the largest number of steps that are recorded before its release; else 0
	steps int64
}

// Recalled holds the data that the ledger records with a question so that later questions can find its answer. Nothing
// that is released depends on them.
type Recalled struct {
	Caps    *ledger.Caps                         // limits that the question names in addition to its text; nil for none
	Subject func(versions []int) *ledger.Subject // nil if no later question can follow from the answer
}

// copied returns a copy of l.
func (l *Look) copied() *Look {
	out := *l
	return &out
}

// Statements returns all statements of the access. The first one determines which parts are charged.
func (l *Look) Statements() []*bounded.Statement { return slices.Clone(l.statements) }

// Price returns the loss that the access is charged.
func (l *Look) Price() privacy.Loss { return l.price }

// Tables returns the sealed versions that the first statement reads, in the order of its Tables.
func (l *Look) Tables() []seal.Version { return slices.Clone(l.tables) }

// Key returns the replay key.
func (l *Look) Key() string { return l.key }

// Fresh reports whether the access is paid again, with new noise, even if it was released before.
func (l *Look) Fresh() bool { return l.fresh }

// Shape returns the number of rows and of columns of the released numbers.
func (l *Look) Shape() [2]int { return l.shape }

// Passes returns the approximate number of passes over the rows; 0 is one.
func (l *Look) Passes() int64 { return l.passes }

// Primitive is one kind of access to rows. Only this package implements it, because other packages cannot name its
// unexported methods. A caller that holds a primitive can inspect its plan, but cannot read rows.
type Primitive interface {
	// Look returns a copy of the description of the access. It is the same at each call.
	Look() *Look
	// decided returns the description that the kernel charges and runs. The method is unexported, and Look returns
	// a copy. So no code that embeds a primitive or writes to a Look can change the price.
	decided() *Look
	// access reads rows, and returns what the mechanisms release. It checks that each mechanism is the one that the
	// look describes. Its error may quote rows, so it is for the owner only.
	access(ctx context.Context, rows reader) (Values, error)
	// encode converts values to the ledger's form, and decode converts them back.
	encode(Values) (json.RawMessage, error)
	decode(json.RawMessage) (Values, error)
}

// reader gives a primitive access to an engine and the sealed versions of its tables.
type reader struct {
	engine engine.Engine
	sealed engine.Sealed
	dir    string // the folder for temporary files of data that does not fit in memory
}

// Values are the results that a primitive releases.
type Values struct {
	Numbers [][]*big.Int    // by row and column
	Groups  [][]value.Value // the selected groups, ordered by their keys; nil if the keys are known
	Rows    int64           // the bound on rows that was found; 0 if there was no search for one
	// the estimate of what the bounds cut, in the order of the plan's Truncation; nil if there is none
	Truncation []*big.Int
}

// Released are values that are recorded in the ledger, or computed from recorded ones.
type Released struct {
	Values
	ID       uint64 // the number of the reservation
	Replayed bool
	From     []string // the releases that an answer is computed from, if it has no release of its own
}

// Name returns the name of the release: "r" and the number of its reservation.
func (r *Released) Name() string { return fmt.Sprintf("r%d", r.ID) }

// numbersAlone implements the methods of Primitive, except access, for primitives that release only numbers.
type numbersAlone struct{ look *Look }

// Look implements [Primitive].
func (n numbersAlone) Look() *Look { return n.look.copied() }

func (n numbersAlone) decided() *Look { return n.look }

func (n numbersAlone) encode(v Values) (json.RawMessage, error) { return encode(v.Numbers), nil }

func (n numbersAlone) decode(text json.RawMessage) (v Values, err error) {
	v.Numbers, err = Decode(text, n.look.shape)
	return v, err
}

// Sources returns the sealed versions that the access reads, in the ledger's form.
func (l *Look) Sources() (out []ledger.Source) {
	for _, v := range l.tables {
		out = append(out, ledger.Source{Table: v.Table, Version: v.Number})
	}
	return out
}

// tableNames returns the names of the tables that the access reads.
func (l *Look) tableNames() (out []string) {
	for _, v := range l.tables {
		out = append(out, v.Table)
	}
	return out
}

// Versions returns the numbers of the sealed versions that the access reads.
func (l *Look) Versions() (out []int) {
	for _, v := range l.tables {
		out = append(out, v.Number)
	}
	return out
}

// Confinement returns the table and those of its parts (subsets of the units) that the access is charged to; "" and nil
// if everybody is charged.
func (l *Look) Confinement() (table string, parts []string) {
	if len(l.statements) == 0 || l.everybody {
		return "", nil
	}
	return l.statements[0].Confinement()
}

const (
	// numberBytes is the size of a released number with its quotes and comma. Engines sum in 128 bits, which is 40
	// characters, and noise exceeds that with negligible probability only.
	numberBytes = 48
	// stepBytes is the size of a step's ledger entry for a question of usual length.
	stepBytes = 1 << 10
)

// bytesOf estimates the size of a release with the given shape. The ledger reserves this room on the disk. The
// privacy guarantee does not depend on the estimate. A longer answer is recorded if there is room, and fails if
// there is none.
func bytesOf(rows, columns int) int64 { return int64(rows) * int64(columns+1) * numberBytes }

// most returns the estimated number of bytes that are recorded after the reservation of the access.
func (l *Look) most() int64 { return l.bytes + l.steps*stepBytes }
