package policy_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"dither/internal/policy"
)

const delayed = `version: 1
population: {name: p}
budget: {epsilon: 2}
answer_delay: {quantum: 250ms, floor: 0.5s, factor: 0.25ns, rows: 1000}
tables:
  t: {source: {csv: t.csv}, unit: row, expected_rows: 500, columns: {x: {type: integer}}}
  u: {source: {csv: u.csv}, unit: row, columns: {x: {type: integer}}}
`

// The answer leaves at the first multiple of the quantum that leaves the floor and the factor for each unit of cost,
// exactly.
func TestDelay(t *testing.T) {
	p := decode(t, delayed)
	for cost, want := range map[string]time.Duration{
		"0": 500 * time.Millisecond, "1": 750 * time.Millisecond, "1e9": 750 * time.Millisecond,
		"1000000001": time.Second, "2e12": 500*time.Second + 500*time.Millisecond,
	} {
		r, _ := new(big.Rat).SetString(cost)
		if got, ok := p.Delay.After(r.Num(), time.Hour); !ok || got != want {
			t.Errorf("after %s: %v, %t, want %v", cost, got, ok, want)
		}
	}
	beyond := new(big.Int).Exp(big.NewInt(10), big.NewInt(200), nil)
	for _, cost := range []*big.Int{beyond, big.NewInt(24e12)} {
		if got, ok := p.Delay.After(cost, time.Hour); ok {
			t.Errorf("after %v: %v", cost, got)
		}
	}
	if a, b := p.Delay.RowsOf(p.Table("t")), p.Delay.RowsOf(p.Table("u")); a != 500 || b != 1000 {
		t.Errorf("rows %d, %d", a, b)
	}
	for text, want := range map[string]policy.Delay{
		"{quantum: 10ms, factor: 1us, rows: 1}": {
			Quantum: 10 * time.Millisecond,
			Floor:   10 * time.Millisecond, Factor: big.NewRat(1000, 1),
		},
		"{quantum: 1h, floor: 1h, factor: 1µs, rows: 1}": {
			Quantum: time.Hour, Floor: time.Hour,
			Factor: big.NewRat(1000, 1),
		},
		"{quantum: '1.5m', floor: 2e7ns, factor: 1s, rows: 1}": {
			Quantum: 90 * time.Second,
			Floor:   20 * time.Millisecond, Factor: big.NewRat(1e9, 1),
		},
	} {
		other := decode(t, strings.Replace(delayed, "{quantum: 250ms, floor: 0.5s, factor: 0.25ns, rows: 1000}",
			text, 1))
		if d := other.Delay; d.Quantum != want.Quantum || d.Floor != want.Floor || d.Factor.Cmp(want.Factor) != 0 {
			t.Errorf("%s: %v", text, d)
		}
		if other.Digest() != p.Digest() {
			t.Errorf("%s: the digest changed", text)
		}
	}
	none := decode(t, strings.Replace(delayed, "answer_delay", "# answer_delay", 1))
	if none.Delay != nil || none.Digest() != p.Digest() {
		t.Errorf("%v, %s", none.Delay, none.Digest())
	}
}

// What is wrong with a delay is named where it stands.
func TestBadDelays(t *testing.T) {
	for text, want := range map[string][]string{
		"{}": {
			"4:1: answer_delay.quantum: missing",
			"4:1: answer_delay.factor: missing", "table t declares no expected_rows",
		},
		"1s": {"expected keys and values"},
		"{quantum: 1, factor: 1e400ns}": {
			`4:25: answer_delay.quantum: not a duration: "1": it ends with one of`,
			`answer_delay.factor: not a duration: "1e400ns"`,
		},
		"{quantum: 1ms, floor: 61m, rows: 0}": {
			"quantum: must be between 10ms and 1h,",
			"floor: must be between 10ms and 1h,", "rows: must be between 1 and",
		},
		"{quantum: s, floor: .s, factor: 1 fortnight, rows: 1e13}": {
			`not a duration: "s"`, `not a duration: ".s"`,
			`not a duration: "1 fortnight"`, "rows: must be between 1 and",
		},
		"{quantum: 0s, floor: 0.1ns, factor: 0ns, rows: 1}": {
			"quantum: must be", "floor: must be",
			"factor: must be above 0",
		},
		"{quantum: 1s, floor: -1s, factor: 1.001s, rows: 1}": {
			"floor: must be",
			"factor: must be above 0 and at most 1s",
		},
		"{quantum: NaNs, floor: 0x10ns, factor: infms, rows: 1}": {`"NaNs"`, `"0x10ns"`, `"infms"`},
		"{quantum: 1s, factor: 1ns, row: 5}":                     {"answer_delay.row: unknown key (did you mean rows?)"},
		"{quantum: 1s, factor: 1ns}":                             {"table t declares no expected_rows"},
	} {
		_, err := policy.Decode([]byte("version: 1\npopulation: {name: p}\nbudget: {epsilon: 2}\nanswer_delay: "+text+
			"\ntables:\n  t: {source: {csv: t.csv}, unit: row, columns: {x: {type: integer}}}\n"), "")
		if err == nil {
			t.Errorf("%s: it is taken", text)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v\nlacks %s", text, err, part)
			}
		}
	}
}
