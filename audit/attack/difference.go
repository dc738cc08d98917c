package attack

import "fmt"

// Differencing simulates the oldest attack. The attacker asks how many people have a secret bit, and asks the same
// about all people except one. The difference is that person's bit. Against noise, the attacker asks both questions
// repeatedly, in different words, and takes means.
type Differencing struct {
	Pairs int // how often both questions are asked; at most MostQuestions
	Runs  int // at most MostRuns, and Pairs × Runs at most 2²¹
	Seed  uint64
}

// mostAsked is the largest value of Pairs × Runs.
const mostAsked = 1 << 21

// others is the number of other people. The attack does not depend on it.
const others = 100

// Run returns the share of runs in which the attacker guesses the bit correctly. The bit is 0 or 1 with equal
// probability. Against a [Bounded] curator, the mean of its noise over many answers tends to 0.
//
// A budget is divided among all answers. The curator cannot know the target, and most people are counted in both
// questions. So the sensitivity is that of 2·Pairs answers, for a change of one person's bit. No attack guesses
// more than e^ε/(1+e^ε) of the bits on average (interpret.MostGuessed). The seed determines everything except the
// noise of a budget. Invalid fields are ErrParameter.
func (d Differencing) Run(c Curator) (Rate, error) {
	switch {
	case d.Pairs < 1 || d.Pairs > MostQuestions:
		return Rate{}, fmt.Errorf("%w: the number of question pairs must be 1 to %d, not %d",
			ErrParameter, MostQuestions, d.Pairs)
	case d.Runs < 1 || d.Runs > MostRuns:
		return Rate{}, fmt.Errorf("%w: the number of runs must be 1 to %d, not %d", ErrParameter, MostRuns, d.Runs)
	case d.Runs > mostAsked/d.Pairs:
		return Rate{}, fmt.Errorf("%w: pairs × runs must be at most %d", ErrParameter, mostAsked)
	}
	right := make([]float64, d.Runs)
	for run := range right {
		s := newStream(d.Seed, uint64(run))
		var with, secret int64
		for range others {
			if s.bit() {
				with++
			}
		}
		if s.bit() {
			secret = 1
		}
		counts := make([]int64, 2*d.Pairs)
		for i := range d.Pairs {
			counts[2*i], counts[2*i+1] = with+secret, with
		}
		answers, err := c.answer(counts, int64(2*d.Pairs), s)
		if err != nil {
			return Rate{}, err
		}
		sum := 0.0
		for i := range d.Pairs {
			sum += answers[2*i] - answers[2*i+1]
		}
		if (sum/float64(d.Pairs) >= 0.5) == (secret == 1) {
			right[run] = 1
		}
	}
	return rateOf(right), nil
}
