package attack

import (
	"fmt"
	"math"
)

// Limits of a reconstruction.
const (
	MostPeople    = 512
	MostQuestions = 8192
	MostRuns      = 10_000

	mostWork int64 = 1 << 32 // people² × questions × runs
)

// Counts is a table of published counts. Each question counts how many people of a known group have a secret bit, and
// each answer is the published count.
type Counts struct {
	program program
	drawnIn int
}

// NewCounts makes a table of questions, each of which says for each person whether they are counted, with their
// answers. No count of n people is below 0 or above n, so an answer below −n becomes −n, and one above 2n becomes
// 2n: then an answer that is far off does not cost the others their digits. (It does not affect the least sum of
// residuals: it lowers the sum by the same amount for all secrets.)
//
// The error is ErrParameter if questions differ in length, if there is not one answer for each, if there are none or
// more than MostPeople and MostQuestions, and if an answer is not finite or beyond ±10⁹.
func NewCounts(questions [][]bool, answers []float64) (*Counts, error) {
	switch {
	case len(questions) == 0 || len(questions[0]) == 0:
		return nil, fmt.Errorf("%w: there are no questions, or nobody is asked about", ErrParameter)
	case len(questions) != len(answers):
		return nil, fmt.Errorf("%w: %d questions have %d answers", ErrParameter, len(questions), len(answers))
	case len(questions[0]) > MostPeople || len(questions) > MostQuestions:
		return nil, fmt.Errorf("%w: at most %d people and %d questions are taken",
			ErrParameter, MostPeople, MostQuestions)
	}
	c := &Counts{program: program{people: len(questions[0])}}
	n := float64(c.program.people)
	for i, answer := range answers {
		question := questions[i]
		if len(question) != c.program.people {
			return nil, fmt.Errorf("%w: question %d is about %d people, the first about %d",
				ErrParameter, i+1, len(question), c.program.people)
		}
		if !(math.Abs(answer) <= farOff) {
			return nil, fmt.Errorf("%w: answer %d is %g: at most 1e9 either way is taken", ErrParameter, i+1, answer)
		}
		var row []int32
		for j, counted := range question {
			if counted {
				row = append(row, int32(j))
			}
		}
		within := math.Min(2*n, math.Max(-n, answer))
		if within != answer {
			c.drawnIn++
		}
		c.program.rows, c.program.answers = append(c.program.rows, row), append(c.program.answers, within)
	}
	return c, nil
}

// People is the number of people asked about.
func (c *Counts) People() int { return c.program.people }

// Questions is the number of answers.
func (c *Counts) Questions() int { return len(c.program.rows) }

// DrawnIn is how many answers were clamped because they were too far from every count.
func (c *Counts) DrawnIn() int { return c.drawnIn }

// Bit is a reconstruction's belief about a person's bit.
type Bit int8

// The beliefs.
const (
	Zero Bit = iota
	One
	Undecided // the answers are explained as well by either
)

// halfway is how near a fraction is to ½ that decides nothing.
const halfway = 1e-6

// Secrets is the result of a reconstruction.
type Secrets struct {
	Fractions []float64 // each person's, in [0, 1], that explain the answers best
	Bits      []Bit     // the same, rounded: what the attacker believes
	Residual  float64   // what the best fractions leave unexplained, in the norm of the fit
	AtLeast   float64   // no fractions leave less, to rounding: the certificate
}

// Reconstruct finds the secret bits that explain the answers best: it relaxes them to fractions, which makes the search
// a linear program, and rounds [Dinur & Nissim 2003, Theorem 3; Dwork, McSherry & Talwar 2007]. With answers to many
// random questions about n people, and noise well below √n, almost all bits are right. So no curator can give such
// answers and protect anybody.
//
// The fractions need not be the only best ones. What is certified is that none are better by more than Residual −
// AtLeast, which is at most 10⁻⁶·(1 + Residual), and nearly always far less.
//
// The error is ErrParameter for an unknown fit and for a table without questions. Otherwise it reports a linear program
// that rounding prevented from being solved.
func (c *Counts) Reconstruct(fit Fit) (Secrets, error) {
	if err := fit.check(); err != nil {
		return Secrets{}, err
	}
	if c == nil || len(c.program.rows) == 0 {
		return Secrets{}, fmt.Errorf("%w: there are no questions", ErrParameter)
	}
	p := c.program
	p.fit = fit
	found, err := p.solve()
	if err != nil {
		return Secrets{}, err
	}
	s := Secrets{Fractions: found.x, Bits: make([]Bit, len(found.x)), Residual: found.value, AtLeast: found.lower}
	for j, x := range found.x {
		switch {
		case x >= 0.5+halfway:
			s.Bits[j] = One
		case x > 0.5-halfway:
			s.Bits[j] = Undecided
		}
	}
	return s, nil
}

// Recovered is the share of the bits that are right; an undecided bit counts one half, like a coin. A truth about other
// people, or none, is ErrParameter.
func (s Secrets) Recovered(truth []bool) (float64, error) {
	if len(truth) != len(s.Bits) || len(truth) == 0 {
		return 0, fmt.Errorf("%w: the truth is of %d people, the table of %d", ErrParameter, len(truth), len(s.Bits))
	}
	right := 0.0
	for j, b := range s.Bits {
		switch {
		case b == Undecided:
			right += 0.5
		case (b == One) == truth[j]:
			right++
		}
	}
	return right / float64(len(truth)), nil
}

// Reconstruction simulates reconstruction: made-up people with a random secret bit each, and counts of random groups,
// in which each person is with probability 1/2.
type Reconstruction struct {
	People, Questions, Runs int
	Fit                     Fit
	Seed                    uint64
}

// Run is the share of the bits that is recovered from a curator's answers. People, questions and fixed noise are
// functions of the seed and the run; and with more questions the first ones stay.
//
// A budget ε is divided over all the questions: a bit that changes moves each answer by at most 1, so all of them
// together by at most their number, which is the sensitivity that the noise is for; ε is for that change. The secrets
// are independent and uniform, so that at most e^ε/(1+e^ε) of them is recovered on average, by any attack
// (interpret.MostGuessed).
func (r Reconstruction) Run(c Curator) (Rate, error) {
	switch {
	case r.People < 1 || r.People > MostPeople:
		return Rate{}, fmt.Errorf("%w: there are 1 to %d people, not %d", ErrParameter, MostPeople, r.People)
	case r.Questions < 1 || r.Questions > MostQuestions:
		return Rate{}, fmt.Errorf("%w: there are 1 to %d questions, not %d", ErrParameter, MostQuestions, r.Questions)
	case r.Runs < 1 || r.Runs > MostRuns:
		return Rate{}, fmt.Errorf("%w: there are 1 to %d runs, not %d", ErrParameter, MostRuns, r.Runs)
	case int64(r.Runs) > mostWork/(int64(r.People)*int64(r.People)*int64(r.Questions)):
		return Rate{}, fmt.Errorf("%w: people² × questions × runs is at most %d", ErrParameter, mostWork)
	}
	if err := r.Fit.check(); err != nil {
		return Rate{}, err
	}
	shares := make([]float64, r.Runs)
	for run := range shares {
		table, truth, err := r.simulate(uint64(run), c)
		if err != nil {
			return Rate{}, err
		}
		found, err := table.Reconstruct(r.Fit)
		if err != nil {
			return Rate{}, err
		}
		if shares[run], err = found.Recovered(truth); err != nil {
			return Rate{}, err
		}
	}
	return rateOf(shares), nil
}

// simulate makes up the people of a run, asks, and has a curator answer.
func (r Reconstruction) simulate(run uint64, c Curator) (*Counts, []bool, error) {
	people, asked, noise := newStream(r.Seed, run, 0), newStream(r.Seed, run, 1), newStream(r.Seed, run, 2)
	truth := make([]bool, r.People)
	for j := range truth {
		truth[j] = people.bit()
	}
	questions, counts := make([][]bool, r.Questions), make([]int64, r.Questions)
	for i := range questions {
		questions[i] = make([]bool, r.People)
		for j := range questions[i] {
			questions[i][j] = asked.bit()
			if questions[i][j] && truth[j] {
				counts[i]++
			}
		}
	}
	answers, err := c.answer(counts, int64(r.Questions), noise)
	if err != nil {
		return nil, nil, err
	}
	table, err := NewCounts(questions, answers)
	return table, truth, err
}
