package policy

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"dither/internal/exact"
)

// Delay fixes the moment at which the answer to a question leaves, from public facts alone: the smallest multiple of
// Quantum, counted from the question's arrival, that allows Floor plus Factor for each unit of the question's cost. It
// changes neither the meaning nor the price of an answer, so it is not part of the policy's digest: setting it keeps
// all replays.
type Delay struct {
	Quantum time.Duration // above 0
	Floor   time.Duration // for the work before and after the rows are read; above 0
	Factor  *big.Rat      // nanoseconds for each unit of cost, above 0
	Rows    int64         // the assumed size of a table without ExpectedRows; 0 if all declare it
}

// Limits on a quantum and a floor.
const (
	leastDelay = 10 * time.Millisecond
	mostDelay  = time.Hour
)

// After is the delay of the answer to a question of this cost, counted from its arrival. It returns false if the delay
// is above most.
func (d *Delay) After(cost *big.Int, most time.Duration) (time.Duration, bool) {
	wait := new(big.Rat).Mul(d.Factor, new(big.Rat).SetInt(cost))
	wait.Add(wait, new(big.Rat).SetInt64(int64(d.Floor)))
	quanta := exact.CeilRat(wait.Quo(wait, new(big.Rat).SetInt64(int64(d.Quantum))))
	quanta.Mul(quanta, big.NewInt(int64(d.Quantum)))
	if quanta.Cmp(big.NewInt(int64(most))) > 0 {
		return 0, false
	}
	return time.Duration(quanta.Int64()), true
}

// delay reads answer_delay. The cost of a question is known only if the number of rows is declared.
func (r *reader) delay(f field, tables []*Table) *Delay {
	if !f.present() {
		return nil
	}
	keys, ok := f.keys("quantum", "floor", "factor", "rows")
	if !ok {
		return nil
	}
	d := &Delay{}
	keys["quantum"].need(f, "as in quantum: 1s: answers leave at multiples of it")
	keys["factor"].need(f, "as in factor: 50ns: the time for each unit of cost, as the owner measures it")
	d.Quantum = keys["quantum"].duration()
	d.Floor = d.Quantum
	if keys["floor"].present() {
		d.Floor = keys["floor"].duration()
	}
	factor, given := keys["factor"].nanoseconds()
	switch {
	case given && (factor.Sign() <= 0 || factor.Cmp(big.NewRat(int64(time.Second), 1)) > 0):
		keys["factor"].fail("", "must be above 0 and at most 1s")
	case given:
		d.Factor = factor
	}
	d.Rows, _ = keys["rows"].count(MaxExpectedRows)
	for _, t := range tables {
		if t.ExpectedRows == 0 && !keys["rows"].present() {
			f.failKey(
				"as in rows: 100000, or expected_rows of the table: about how many there are, where that is public",
				"table %s declares no expected_rows: the time that a question may take follows from them", clip(t.Name))
		}
	}
	return d
}

// RowsOf is roughly how many rows a table has.
func (d *Delay) RowsOf(t *Table) int64 {
	if t.ExpectedRows > 0 {
		return t.ExpectedRows
	}
	return d.Rows
}

type unitOfTime struct {
	name string
	ns   int64
}

// units are the units of time in which a duration is written.
var units = []unitOfTime{
	{"ns", 1},
	{"us", 1_000},
	{"µs", 1_000},
	{"ms", 1_000_000},
	{"s", 1_000_000_000},
	{"m", 60_000_000_000},
	{"h", 3_600_000_000_000},
}

// nanoseconds reads a duration exactly: a decimal and its unit, as in 250ms or 1.5s.
func (f field) nanoseconds() (*big.Rat, bool) {
	s, ok := f.text()
	if !ok {
		return nil, false
	}
	x, err := parseDuration(s)
	if err != nil {
		f.fail("as in 250ms, 1.5s or 2m", "not a duration: %s: %v", quote(s), err)
		return nil, false
	}
	return x, true
}

func parseDuration(s string) (*big.Rat, error) {
	i := slices.IndexFunc(units, func(u unitOfTime) bool {
		number, found := strings.CutSuffix(s, u.name)
		return found && number != "" && strings.ContainsAny(number[len(number)-1:], "0123456789.")
	})
	if i < 0 {
		return nil, errors.New("it ends with one of ns, us, ms, s, m, h")
	}
	x, err := exact.ParseDecimal(strings.TrimSuffix(s, units[i].name))
	if err != nil {
		return nil, err
	}
	return x.Mul(x, new(big.Rat).SetInt64(units[i].ns)), nil
}

// duration reads a quantum or a floor. After a reported error it is 0.
func (f field) duration() time.Duration {
	x, ok := f.nanoseconds()
	if !ok {
		return 0
	}
	if !x.IsInt() || x.Cmp(big.NewRat(int64(leastDelay), 1)) < 0 || x.Cmp(big.NewRat(int64(mostDelay), 1)) > 0 {
		f.fail("", "must be between 10ms and 1h, found %s", quote(f.node.Value))
		return 0
	}
	return time.Duration(x.Num().Int64())
}

// String says when answers leave.
func (d *Delay) String() string {
	return fmt.Sprintf("multiples of %s from arrival, once %s and %sns for each unit of a question's cost have passed",
		d.Quantum, d.Floor, exact.FormatRat(d.Factor))
}
