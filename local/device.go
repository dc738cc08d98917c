package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"dither/internal/entropy"
	"dither/local/internal/coin"
	"dither/privacy"
)

// memoised is a scheme whose devices keep a permanent response to each of a few states of their value.
type memoised interface {
	scheme
	begin(coin.Chooser) public
	state(own public, v uint64) uint64 // of a value, from 0
	states() uint64                    // the largest number of states
	memory() int                       // the number of bits of a permanent response
	keep(c coin.Chooser, own public, state uint64, memo []byte)
	send(c coin.Chooser, own public, memo, report []byte)
	valid(own public, memo []byte) bool
	permanentRatio() *big.Rat
}

// public are the choices that a device makes once and includes in each report.
type public []uint64

// reportOf packs the first report of a new device.
func reportOf(s memoised, c coin.Chooser, v uint64, report []byte) {
	own := s.begin(c)
	memo := make([]byte, (s.memory()+7)/8)
	s.keep(c, own, s.state(own, v), memo)
	s.send(c, own, memo, report)
}

// Device is the memory of one person's device, for questions that are repeated: with "rappor", "loloha" or "dbit". It
// keeps a permanent response to each state of its value. A state is a value ("rappor"), the cell of a value ("loloha"),
// or the drawn position that has the value, if any ("dbit"). All reports about a state are made from its permanent
// response. So repeating a report does not reveal more and more about the state.
//
// Claim: consider two histories of a person's values whose states change at the same moments and return at the same
// moments to the state of an earlier moment. All reports together are (s·ε∞)-differentially private between them, for
// s different states in a history. There are at most [Oracle.States] of them. Proof: the public choices are drawn
// without the values. Given these, all reports are computed from the permanent responses to s states, with
// independent randomness, in the same way for both histories. The permanent responses are independent, and each is
// ε∞-differentially private between any two states. ∎
//
// The claim does not cover the moments of change. "dbit" shows each change of the state, unless the two responses
// happen to be equal. "rappor" and "loloha" hide a change in the noise of the instantaneous responses, but not if
// many reports are made before and after it. The public choices are in each report of "loloha" and "dbit". So reports
// of a device can be told apart from those of others, which the claim allows. A device that loses its memory, and a
// second device of a person, have a new memory, and their s·ε∞ adds.
//
// The memory is as secret as the values. It is not safe for concurrent use.
type Device struct {
	oracle *Oracle
	scheme memoised
	own    public
	memos  map[uint64][]byte
}

// ErrDevice reports a memory that is not one of a device of the oracle.
var ErrDevice = errors.New("invalid memory of a device")

// States returns the largest number of states of a device's value, and ε∞ times it: the loss of all reports of a
// device, in the sense of [Device]. For oracles without memory, the error is ErrParameter.
func (o *Oracle) States() (states uint64, lifetime privacy.Epsilon, err error) {
	s, ok := o.scheme.(memoised)
	if !ok {
		return 0, lifetime, fmt.Errorf("%w: %s has no memory", ErrParameter, o.params.Mechanism)
	}
	return s.states(), o.params.Epsilon.Times(int64(s.states())), nil
}

// NewDevice returns a device with a new memory. For oracles without memory, the error is ErrParameter.
func (o *Oracle) NewDevice() (*Device, error) {
	s, ok := o.scheme.(memoised)
	if !ok {
		return nil, fmt.Errorf("%w: %s has no memory", ErrParameter, o.params.Mechanism)
	}
	source := entropy.System()
	defer source.Wipe()
	return &Device{o, s, s.begin(coin.Random{Source: source}), map[uint64][]byte{}}, nil
}

// Report returns a report about the current value. Store the device before you send the report: a device that forgets
// a permanent response draws another one, which reveals more. The error is ErrValue.
func (d *Device) Report(value uint64) ([]byte, error) {
	if value >= d.oracle.params.Values {
		return nil, fmt.Errorf("%w: a value is not below %d", ErrValue, d.oracle.params.Values)
	}
	source := entropy.System()
	defer source.Wipe()
	return d.report(coin.Random{Source: source}, value), nil
}

func (d *Device) report(c coin.Chooser, value uint64) []byte {
	state := d.scheme.state(d.own, value)
	memo, kept := d.memos[state]
	if !kept {
		memo = make([]byte, (d.scheme.memory()+7)/8)
		d.scheme.keep(c, d.own, state, memo)
		d.memos[state] = memo
	}
	report := make([]byte, d.oracle.bytes())
	d.scheme.send(c, d.own, memo, report)
	return report
}

// Spent returns ε∞ times the number of states so far. It depends on the values, so it is as secret as they are.
func (d *Device) Spent() privacy.Epsilon { return d.oracle.params.Epsilon.Times(int64(len(d.memos))) }

// deviceJSON is the stored form of a device.
type deviceJSON struct {
	For   *deviceFor        `json:"for,omitempty"` // nil in memories that were stored before it was added
	Own   public            `json:"own"`
	Memos map[uint64][]byte `json:"memos"`
}

// deviceFor has the parameters of the oracle of a stored device. The responses have the ε of that oracle, whatever
// oracle opens the device.
type deviceFor struct {
	Mechanism string          `json:"mechanism"`
	Values    uint64          `json:"values"`
	Epsilon   privacy.Epsilon `json:"epsilon"`
	First     privacy.Epsilon `json:"first,omitzero"`
	Positions uint64          `json:"positions,omitempty"`
}

func (f deviceFor) same(o deviceFor) bool {
	return f.Mechanism == o.Mechanism && f.Values == o.Values && f.Positions == o.Positions &&
		f.Epsilon.Cmp(o.Epsilon) == 0 && f.First.Cmp(o.First) == 0
}

// deviceFor returns the parameters that a device depends on, with their defaults.
func (o *Oracle) deviceFor() deviceFor {
	f := deviceFor{Mechanism: o.params.Mechanism, Values: o.params.Values, Epsilon: o.params.Epsilon}
	switch o.scheme.(type) {
	case loloha:
		f.First = o.params.first()
	case dbit:
		f.Positions = o.params.positions()
	}
	return f
}

// MarshalJSON returns the memory, for storage on the device. It is as secret as the values.
func (d *Device) MarshalJSON() ([]byte, error) {
	f := d.oracle.deviceFor()
	return json.Marshal(deviceJSON{&f, d.own, d.memos})
}

// OpenDevice returns a stored device. The memory of another oracle's device is ErrDevice: its responses have another ε,
// so Spent would be wrong, and the estimates biased. A memory without parameters, from before they were stored, is
// accepted. The error is ErrDevice or ErrParameter.
func (o *Oracle) OpenDevice(stored []byte) (*Device, error) {
	s, ok := o.scheme.(memoised)
	if !ok {
		return nil, fmt.Errorf("%w: %s has no memory", ErrParameter, o.params.Mechanism)
	}
	var j deviceJSON
	if err := json.Unmarshal(stored, &j); err != nil {
		return nil, fmt.Errorf("%w: it is not JSON of the right form", ErrDevice)
	}
	if j.For != nil && !j.For.same(o.deviceFor()) {
		return nil, fmt.Errorf("%w: it belongs to another oracle, whose parameters differ", ErrDevice)
	}
	if !s.valid(j.Own, make([]byte, (s.memory()+7)/8)) {
		return nil, fmt.Errorf("%w: its public choices are not those of %s", ErrDevice, o.params.Mechanism)
	}
	d := &Device{o, s, j.Own, map[uint64][]byte{}}
	for state, memo := range j.Memos {
		if state >= s.states() || !s.valid(j.Own, memo) {
			return nil, fmt.Errorf("%w: its response to state %d is invalid", ErrDevice, state)
		}
		d.memos[state] = memo
	}
	return d, nil
}

// The parts of a device with rappor.

func (s rappor) begin(coin.Chooser) public          { return nil }
func (s rappor) state(_ public, v uint64) uint64    { return v }
func (s rappor) states() uint64                     { return s.k }
func (s rappor) memory() int                        { return int(s.k) }
func (s rappor) permanentRatio() *big.Rat           { return s.unary.ratio() }
func (s rappor) valid(own public, memo []byte) bool { return len(own) == 0 && padded(memo, s.memory()) }

func (s rappor) keep(c coin.Chooser, _ public, v uint64, memo []byte) { s.unary.randomize(c, v, memo) }

func (s rappor) send(c coin.Chooser, _ public, memo, report []byte) {
	copy(report, memo)
	s.instant(c, report)
}
