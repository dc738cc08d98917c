package aim

import (
	"fmt"
	"math"
	"math/big"
)

// Schedule divides a price in ρ among rounds. All prices are exact rational numbers, and those of all rounds together
// are the price.
//
// The first round measures each attribute. Every later round selects a marginal and measures it. Its price is
// doubled from the round after one that changed the model by less than the noise: see [Schedule.Annealed]. The last
// round spends the rest.
type Schedule struct {
	price, spent    *big.Rat
	choose, measure *big.Rat // of the next round
	first           Round
}

// Round is the price of one round, in ρ.
type Round struct {
	Select  *big.Rat // the price of the selection: 0 in the first round
	Measure *big.Rat // the price of each measurement
	Times   int      // the number of measurements
	// Spent is the share of the whole price that is spent when the round ends.
	Spent *big.Rat
	Last  bool
}

// Published is the published number of planned rounds for each attribute.
const Published = 16

// tenth is the published share of a round's price that selects. The rest measures.
var tenth = big.NewRat(1, 10)

// NewSchedule returns the schedule of a price for a number of attributes, and a number of planned rounds for each. All must
// be positive.
func NewSchedule(rho *big.Rat, attributes, planned int) (*Schedule, error) {
	if rho == nil || rho.Sign() <= 0 || attributes <= 0 || planned <= 0 {
		return nil, fmt.Errorf("aim: a schedule needs a price above 0, and at least one attribute and round")
	}
	each := new(big.Rat).Quo(rho, new(big.Rat).SetInt64(int64(planned)*int64(attributes)))
	s := &Schedule{price: rho, spent: new(big.Rat)}
	s.choose, s.measure = divide(each)
	s.spent.Mul(s.measure, new(big.Rat).SetInt64(int64(attributes)))
	s.first = Round{new(big.Rat), s.measure, attributes, s.share(), false}
	return s, nil
}

// divide returns the price of a selection and that of a measurement.
func divide(price *big.Rat) (choose, measure *big.Rat) {
	choose = new(big.Rat).Mul(price, tenth)
	return choose, new(big.Rat).Sub(price, choose)
}

// First returns the first round, which measures each attribute.
func (s *Schedule) First() Round { return s.first }

// share returns the share of the price that is spent.
func (s *Schedule) share() *big.Rat { return new(big.Rat).Quo(s.spent, s.price) }

// Next returns the next round, and false if the price is spent.
func (s *Schedule) Next() (Round, bool) {
	left := new(big.Rat).Sub(s.price, s.spent)
	if left.Sign() <= 0 {
		return Round{}, false
	}
	both := new(big.Rat).Add(s.choose, s.measure)
	// The published rule spends all in this round if at most two rounds of its price remain.
	last := left.Cmp(new(big.Rat).Add(both, both)) <= 0
	if last {
		s.choose, s.measure = divide(left)
		both = left
	}
	s.spent = new(big.Rat).Add(s.spent, both)
	return Round{s.choose, s.measure, 1, s.share(), last}, true
}

// fewestRounds bounds the price of an annealed round: the whole price divided by this number.
const fewestRounds = 16

// Annealed adapts the next rounds to the last one. It takes the model's counts of the marginal just measured, before
// and after that measurement, and the standard deviation of the noise. If they differ by no more than [ExpectedError],
// the next rounds have twice the price, as far as fewestRounds allows. It reports whether this is so. Tables of
// different lengths are not compared.
//
// The published factor is four, without a bound. A few rounds without a change then spend most of the price on one or
// two marginals.
func (s *Schedule) Annealed(before, after []float64, deviation float64) bool {
	if len(before) != len(after) {
		return false
	}
	moved := 0.0
	for i, v := range before {
		moved += math.Abs(after[i] - v)
	}
	if moved > ExpectedError(after, deviation) {
		return false
	}
	both := new(big.Rat).Add(s.choose, s.measure)
	twice, most := new(big.Rat).Add(both, both), new(big.Rat).Quo(s.price, new(big.Rat).SetInt64(fewestRounds))
	if twice.Cmp(most) > 0 {
		twice = most
	}
	if twice.Cmp(both) > 0 {
		s.choose, s.measure = divide(twice)
	}
	return true
}

// Deviation returns the standard deviation of Gaussian noise at a price in ρ, for counts that one unit moves by at
// most sensitivity in L₂: sensitivity/√(2ρ). It is a figure for scores. The kernel computes the noise that it draws.
func Deviation(rho *big.Rat, sensitivity float64) float64 {
	r, _ := rho.Float64()
	return sensitivity / math.Sqrt(2*r)
}
