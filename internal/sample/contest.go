package sample

import (
	"math/big"

	"dither/internal/entropy"
)

// Contest is a Race of runs of integers with one winner: it remembers only the leading run.
type Contest struct {
	First int64  // of the leading run
	Width uint64 // of it
	race  *Race
}

// NewContest begins a contest of rate c.
func NewContest(src *entropy.Source, c *big.Rat) Contest { return Contest{race: NewRace(src, c, 1)} }

// Enter lets a run of integers in, all of one score.
func (c *Contest) Enter(first int64, width uint64, score int64) {
	if c.race.Enter(first, width, score) {
		c.First, c.Width = first, width
	}
}
