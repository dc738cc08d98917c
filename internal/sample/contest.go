package sample

import (
	"math/big"

	"dither/internal/entropy"
)

// Contest is a Race of ranges of integers with one winner. It stores only the leading range.
type Contest struct {
	First int64  // the first integer of the leading range
	Width uint64 // the number of integers of the leading range
	race  *Race
}

// NewContest starts a contest whose scores are multiplied by the rate c.
func NewContest(src *entropy.Source, c *big.Rat) Contest { return Contest{race: NewRace(src, c, 1)} }

// Enter enters the integers first … first + width − 1, all with the same score.
func (c *Contest) Enter(first int64, width uint64, score int64) {
	if c.race.Enter(first, width, score) {
		c.First, c.Width = first, width
	}
}
