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

// Counts is a table of published counts. Each question counts how many people of a known group have a secret bit.
type Counts struct {
	program program
	drawnIn int
}

// NewCounts makes a table from questions and answers. questions[i][j] says whether question i counts person j. A
// count of n people is between 0 and n, so an answer below −n is clamped to −n, and one above 2n to 2n. This keeps
// extreme answers from costing the others precision. It does not affect the result of LeastSum, because it lowers
// the sum of residuals by the same amount for all secrets.
//
// NewCounts returns ErrParameter if questions differ in length, or if there is not one answer for each. It also
// does so if there are no questions or people, if there are more than MostPeople or MostQuestions, and if an answer
// is not finite or beyond ±10⁹.
func NewCounts(questions [][]bool, answers []float64) (*Counts, error) {
	switch {
	case len(questions) == 0 || len(questions[0]) == 0:
		return nil, fmt.Errorf("%w: there are no questions, or they are about nobody", ErrParameter)
	case len(questions) != len(answers):
		return nil, fmt.Errorf("%w: there are %d questions, but %d answers", ErrParameter, len(questions), len(answers))
	case len(questions[0]) > MostPeople || len(questions) > MostQuestions:
		return nil, fmt.Errorf("%w: there can be at most %d people and %d questions",
			ErrParameter, MostPeople, MostQuestions)
	}
	c := &Counts{program: program{people: len(questions[0])}}
	n := float64(c.program.people)
	for i, answer := range answers {
		question := questions[i]
		if len(question) != c.program.people {
			return nil, fmt.Errorf("%w: question %d is about %d people, but the first is about %d",
				ErrParameter, i+1, len(question), c.program.people)
		}
		if !(math.Abs(answer) <= farOff) {
			return nil, fmt.Errorf("%w: answer %d is %g, but must be between -1e9 and 1e9", ErrParameter, i+1, answer)
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

// People returns the number of people that the questions are about.
func (c *Counts) People() int { return c.program.people }

// Questions returns the number of questions.
func (c *Counts) Questions() int { return len(c.program.rows) }

// DrawnIn returns the number of answers that [NewCounts] clamped because they were too far from any possible count.
func (c *Counts) DrawnIn() int { return c.drawnIn }

// Bit is what a reconstruction concludes about a person's bit.
type Bit int8

// The possible conclusions about a bit.
const (
	Zero Bit = iota
	One
	Undecided // both values explain the answers equally well
)

// halfway is the distance from ½ within which a fraction decides nothing.
const halfway = 1e-6

// Secrets is the result of a reconstruction, with one entry for each person.
type Secrets struct {
	Fractions []float64 // the numbers in [0, 1] that explain the answers best
	Bits      []Bit     // the fractions, rounded: what the attacker concludes
	Residual  float64   // the norm of what the fractions leave unexplained
	AtLeast   float64   // a certified lower bound on the residual of all fractions, up to rounding
}

// Reconstruct finds the secret bits that explain the answers best. It relaxes the bits to fractions, which turns
// the search into a linear program, and rounds the solution [Dinur & Nissim 2003, Theorem 3; Dwork, McSherry &
// Talwar 2007]. If there are answers to many random questions about n people, and the noise is well below √n,
// almost all bits are right. So no curator can give such answers and protect anybody.
//
// Other fractions may be equally good. The certificate says that none are better by more than Residual − AtLeast,
// which is at most 10⁻⁶·(1 + Residual), and usually much less.
//
// Reconstruct returns ErrParameter for an unknown fit, and for a table without questions. It returns another error
// if rounding prevents a solution.
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

// Recovered returns the share of the bits that are right. An undecided bit counts one half, like a coin. It returns
// ErrParameter if truth is empty, or has another length than the bits.
func (s Secrets) Recovered(truth []bool) (float64, error) {
	if len(truth) != len(s.Bits) || len(truth) == 0 {
		return 0, fmt.Errorf("%w: the truth has %d people, but the table has %d", ErrParameter, len(truth), len(s.Bits))
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

// Reconstruction simulates a reconstruction. Made-up people have a random secret bit each. Each question counts a
// random group, which contains each person with probability 1/2.
type Reconstruction struct {
	People, Questions, Runs int
	Fit                     Fit
	Seed                    uint64
}

// Run returns the share of the bits that is recovered from a curator's answers. The seed and the number of the run
// determine people, questions, and the noise of a [Bounded] curator. More questions do not change the first ones.
//
// A budget ε is divided among all questions. If one bit changes, each answer changes by at most 1, so the
// sensitivity of all answers is the number of questions, and ε is for this change. The secrets are independent and
// uniform. So no attack recovers more than e^ε/(1+e^ε) of them on average (interpret.MostGuessed). Invalid fields
// are ErrParameter.
func (r Reconstruction) Run(c Curator) (Rate, error) {
	switch {
	case r.People < 1 || r.People > MostPeople:
		return Rate{}, fmt.Errorf("%w: the number of people must be 1 to %d, not "+
			"%d", ErrParameter, MostPeople, r.People)
	case r.Questions < 1 || r.Questions > MostQuestions:
		return Rate{}, fmt.Errorf("%w: the number of questions must be 1 to %d, not "+
			"%d", ErrParameter, MostQuestions, r.Questions)
	case r.Runs < 1 || r.Runs > MostRuns:
		return Rate{}, fmt.Errorf("%w: the number of runs must be 1 to %d, not %d", ErrParameter, MostRuns, r.Runs)
	case int64(r.Runs) > mostWork/(int64(r.People)*int64(r.People)*int64(r.Questions)):
		return Rate{}, fmt.Errorf("%w: people² × questions × runs must be at most %d", ErrParameter, mostWork)
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

// simulate makes up the people and questions of a run, and returns the curator's answers with the true bits.
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
