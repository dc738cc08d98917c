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

// Delay determines from public facts alone when the answer to a question is returned. The delay from the question's
// arrival is the smallest multiple of Quantum that is at least Floor plus Factor times the question's cost. Delay
// changes neither the meaning nor the price of an answer. So it is not part of the policy's digest, and changing it
// keeps all replays.
type Delay struct {
	Quantum time.Duration // above 0
	Floor   time.Duration // time for the work before and after the rows are read; above 0
	Factor  *big.Rat      // nanoseconds for each unit of cost; above 0
	Rows    int64         // assumed number of rows of a table without ExpectedRows; 0 if every table has one
}

// The least and the largest Quantum and Floor.
const (
	leastDelay = 10 * time.Millisecond
	mostDelay  = time.Hour
)

// After returns the delay of the answer to a question of the given cost, counted from the question's arrival. ok is
// false if the delay exceeds the limit most.
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

// delay reads answer_delay. It requires a number of rows for each table, because the cost of a question depends on
// it.
func (r *reader) delay(f field, tables []*Table) *Delay {
	if !f.present() {
		return nil
	}
	keys, ok := f.keys("quantum", "floor", "factor", "rows")
	if !ok {
		return nil
	}
	d := &Delay{}
	keys["quantum"].need(f, "write, for example, quantum: 1s; answers leave at multiples of it")
	keys["factor"].need(f, "write, for example, factor: 50ns, the time that you measured for each unit of cost")
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
				"declare the approximate number of rows, if it is public: rows: 100000 here, or expected_rows of the table",
				"table %s declares no expected_rows, from which the time that a question may take follows", clip(t.Name))
		}
	}
	return d
}

// RowsOf returns the declared or assumed number of rows of a table.
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

// units lists the units of time in which durations are written.
var units = []unitOfTime{
	{"ns", 1},
	{"us", 1_000},
	{"µs", 1_000},
	{"ms", 1_000_000},
	{"s", 1_000_000_000},
	{"m", 60_000_000_000},
	{"h", 3_600_000_000_000},
}

// nanoseconds reads a duration exactly: a decimal number and its unit, such as 250ms or 1.5s. The result is in
// nanoseconds.
func (f field) nanoseconds() (*big.Rat, bool) {
	s, ok := f.text()
	if !ok {
		return nil, false
	}
	x, err := parseDuration(s)
	if err != nil {
		f.fail("write, for example, 250ms, 1.5s or 2m", "not a duration: %s: %v", quote(s), err)
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

// duration reads a Quantum or a Floor. If it is invalid, duration records the error and returns 0.
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

// String describes when answers are returned.
func (d *Delay) String() string {
	return fmt.Sprintf("multiples of %s from arrival, once %s and %sns for each unit of a question's cost have passed",
		d.Quantum, d.Floor, exact.FormatRat(d.Factor))
}
