package timing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"time"

	"dither/curator"
)

const (
	// Margin is the ratio between a release time that the policy sets and the longest measured time. A margin is
	// needed because a run that is not ready at its release time fails.
	Margin = 3
	// heavyCost is the cost in steps from which on the rows dominate a question's time. Heavy questions are those
	// that cost at least this much. If no question does, they are those with at least half of the largest cost.
	heavyCost = 1_000_000_000
	leastRuns = 5 // measured runs of each question
	quietRows = 100
)

// Quotient holds the worst measured time of one question, with its cost.
type Quotient struct {
	Question
	Rows int64
	Runs int
	Cost *big.Int // in steps: of all rows, and of one unit
	Took time.Duration
	// Overhead is the shortest time of the same question over few rows, without the extra unit. It covers planning,
	// the rehearsal and the ledger. The policy's floor pays for it.
	Overhead time.Duration
	shortest time.Duration
}

// Nanoseconds returns the time for each step of the cost, without the overhead.
func (q Quotient) Nanoseconds() float64 {
	cost, _ := q.Cost.Float64()
	return float64(max(q.Took-q.Overhead, 0)) / cost
}

// Calibration holds the values for a policy's answer_delay on this machine, under the load of the measurement.
type Calibration struct {
	Engine    string
	Rows      int64
	Floor     time.Duration
	Factor    float64  // nanoseconds for each step, rounded up
	Heaviest  Quotient // the question that determines Factor
	Quotients []Quotient
	Load      [2]string
}

// Line returns the answer_delay line for a policy.
func (c *Calibration) Line() string {
	quantum := time.Second
	for quantum < c.Floor {
		quantum *= 2
	}
	return fmt.Sprintf("answer_delay: {quantum: %ds, floor: %dms, factor: %sns, rows: %d}",
		quantum/time.Second, c.Floor/time.Millisecond, strconv.FormatFloat(c.Factor, 'f', -1, 64), c.Rows)
}

// Calibrate measures the times of the fixed questions and of the most expensive ones that the policy admits. It
// runs them over few rows and over o.Rows, with the unit that takes longest.
//
// Factor is Margin times the largest ratio of time, without the overhead, to cost, among the heavy questions. Floor
// is large enough for two conditions. It is at least Margin times the longest time over few rows without that unit.
// And for every question, Floor plus Factor times the cost is at least Margin times its longest time.
func Calibrate(ctx context.Context, o Options) (_ *Calibration, err error) {
	folder, err := os.MkdirTemp("", "dither-timing-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	c := &Calibration{Engine: o.engine(), Rows: o.Rows, Load: [2]string{load(), ""}}
	begun := time.Now()
	places := []struct {
		name string
		rows int64
		with bool
	}{{"quiet", quietRows, false}, {"few", quietRows, true}, {"many", o.Rows, true}}
	quiet, overhead := time.Duration(0), map[string]time.Duration{}
	for i, p := range places {
		w := Where{Rows: p.rows, Unit: storedRows, Postgres: o.Postgres, Folder: folder}
		until := begun.Add(o.Duration * time.Duration(i+1) / time.Duration(len(places)))
		found, err := o.quotients(ctx, w, p.name, p.with, until)
		if err != nil {
			return nil, err
		}
		if !p.with {
			for _, q := range found {
				quiet, overhead[q.Name] = max(quiet, q.Took), q.shortest
			}
			continue
		}
		for i := range found {
			found[i].Overhead = overhead[found[i].Name]
		}
		c.Quotients = append(c.Quotients, found...)
	}
	dearest := new(big.Int)
	for _, q := range c.Quotients {
		if q.Cost.Cmp(dearest) > 0 {
			dearest = q.Cost
		}
	}
	heavy := new(big.Int).Div(dearest, big.NewInt(2))
	if most := big.NewInt(heavyCost); heavy.Cmp(most) > 0 {
		heavy = most
	}
	for _, q := range c.Quotients {
		if q.Cost.Cmp(heavy) >= 0 && (c.Heaviest.Cost == nil || q.Nanoseconds() > c.Heaviest.Nanoseconds()) {
			c.Heaviest = q
		}
	}
	if c.Heaviest.Cost == nil || c.Heaviest.Nanoseconds() == 0 {
		return nil, errors.New(
			"no measured question took any time for its rows: leave out --class and --planted, or measure more --rows",
		)
	}
	c.Factor = roundedUp(Margin * c.Heaviest.Nanoseconds())
	floor := Margin * quiet
	for _, q := range c.Quotients {
		cost, _ := q.Cost.Float64()
		floor = max(floor, Margin*q.Took-time.Duration(c.Factor*cost))
	}
	c.Floor = (floor + leastFloor - 1) / leastFloor * leastFloor
	c.Load[1] = load()
	return c, nil
}

// leastFloor is the unit of floors: a floor is a multiple of it.
const leastFloor = 10 * time.Millisecond

// roundedUp rounds x up to two significant digits.
func roundedUp(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	out, err := strconv.ParseFloat(strconv.FormatFloat(math.Ceil(x/unit)*unit, 'g', 3, 64), 64)
	if err != nil || out < x {
		return x
	}
	return out
}

// quotients runs each question on one home until the given moment. It measures each at least leastRuns times, after
// one run that it does not count.
func (o Options) quotients(
	ctx context.Context,
	w Where,
	name string,
	with bool,
	until time.Time,
) (out []Quotient, err error) {
	h, err := w.make(ctx, name, with)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close(context.WithoutCancel(ctx))) }()
	all, err := questions(ctx, h.Owner, o.Seed)
	if err != nil {
		return nil, err
	}
	for _, q := range all {
		if !o.wants(q) {
			continue
		}
		cost, err := h.Work(curator.Question{SQL: q.SQL, Epsilon: Price}, func(string) int64 { return w.Rows })
		if err != nil {
			return nil, err
		}
		out = append(out, Quotient{Question: q, Rows: w.Rows, Cost: cost})
	}
	for run := -1; run < leastRuns || time.Now().Before(until); run++ {
		for i := range out {
			took, err := o.ask(ctx, h, Class{Question: out[i].Question, Door: Library})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", out[i].Name, err)
			}
			if run >= 0 {
				if out[i].Runs == 0 || took < out[i].shortest {
					out[i].shortest = took
				}
				out[i].Took, out[i].Runs = max(out[i].Took, took), out[i].Runs+1
			}
		}
		if o.Progress != nil && run > 0 {
			o.Progress(run, max(0, time.Until(until)))
		}
	}
	return out, nil
}

func (o Options) engine() string {
	if o.Postgres != "" {
		return "postgres"
	}
	return "duckdb"
}
