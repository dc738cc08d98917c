package interpret

import (
	"fmt"
	"math/big"

	"dither/account"
	"dither/privacy"
)

// Study is a standard example in lectures on privacy. A study publishes a noisy count of its smokers who have lung
// cancer. An insurer knows that Alice smokes, and raises her premium. Was her privacy violated? The insurer learned
// that smoking is harmful. The study would have shown that without Alice's data [Kasiviswanathan & Smith 2014;
// Dwork & Roth 2014, Section 1.1].
//
// The insurer knows who the smokers are, and believes with probability Prior that smoking is harmful. If it is
// harmful, each smoker independently has lung cancer with probability Harmful, and otherwise with probability
// Harmless. The noise is discrete Laplace of scale 1/ε.
type Study struct {
	Smokers                  int // 1 to 100, including Alice
	Prior, Harmless, Harmful *big.Rat
	Epsilon                  privacy.Epsilon
}

// SmokingStudy returns the study with the figures of the example.
func SmokingStudy(e privacy.Epsilon) Study {
	return Study{
		Smokers: 100, Prior: big.NewRat(1, 2), Harmless: big.NewRat(1, 50),
		Harmful: big.NewRat(1, 5), Epsilon: e,
	}
}

// The datasets of [Study.Inference] are classes of datasets with the same count among the other smokers, because
// the study cannot distinguish these. The prior of a class is the sum over its datasets. The index of a class is
// others·4 + 2·(Alice has cancer) + (smoking is harmful).

// HarmfulIn reports whether smoking is harmful in dataset x of [Study.Inference].
func (s Study) HarmfulIn(x int) bool { return x&1 == 1 }

// AliceIn reports whether Alice has lung cancer in dataset x of [Study.Inference].
func (s Study) AliceIn(x int) bool { return x>>1&1 == 1 }

// Inference returns what the insurer infers from an answer. It returns account.ErrParameter if the study is
// invalid.
//
// An answer below 0 or above Smokers is moved to the nearest end. It means the same as that end, because beyond the
// ends the noise's probabilities have constant ratios.
func (s Study) Inference(answer int64) (Inference, error) {
	prior, err := s.priors()
	if err != nil {
		return Inference{}, err
	}
	return s.after(prior, min(max(answer, 0), int64(s.Smokers))), nil
}

// after returns the inference from an answer, with likelihoods for each dataset of prior.
func (s Study) after(prior []*big.Rat, answer int64) Inference {
	in := Inference{Prior: prior, Seen: make([]Likelihood, len(prior)), Without: make([]Likelihood, len(prior))}
	for x := range prior {
		others, alice := int64(x>>2), int64(x>>1&1)
		in.Seen[x], in.Without[x] = s.likelihood(answer-others-alice), s.likelihood(answer-others)
	}
	return in
}

// mostSmokers keeps the running time of [Study.LargestRatio], which tries every answer, below about a second.
const mostSmokers = 100

// priors returns the insurer's beliefs in the datasets before the study.
func (s Study) priors() ([]*big.Rat, error) {
	one := big.NewRat(1, 1)
	if s.Smokers < 1 || s.Smokers > mostSmokers {
		return nil, fmt.Errorf("%w: a study must have 1 to %d smokers", account.ErrParameter, mostSmokers)
	}
	for _, r := range []*big.Rat{s.Prior, s.Harmless, s.Harmful} {
		if r == nil || r.Sign() < 0 || r.Cmp(one) > 0 {
			return nil, fmt.Errorf("%w: a probability must be from 0 to 1", account.ErrParameter)
		}
	}
	var prior []*big.Rat
	risks := []*big.Rat{s.Harmless, s.Harmful}
	worlds := []*big.Rat{new(big.Rat).Sub(one, s.Prior), s.Prior}
	others := [][]*big.Rat{binomial(s.Smokers-1, risks[0]), binomial(s.Smokers-1, risks[1])}
	for count := range s.Smokers {
		for place := range 4 {
			alice, world := place>>1, place&1
			weight := new(big.Rat).Mul(worlds[world], others[world][count])
			if alice == 1 {
				weight.Mul(weight, risks[world])
			} else {
				weight.Mul(weight, new(big.Rat).Sub(one, risks[world]))
			}
			prior = append(prior, weight)
		}
	}
	return prior, nil
}

// likelihood returns the likelihood of a value of the noise, without the normalising factor.
func (s Study) likelihood(noise int64) Likelihood {
	away := new(big.Rat).SetInt64(-max(noise, -noise))
	return Likelihood{Factor: big.NewRat(1, 1), Log: away.Mul(away, s.Epsilon.Rat())}
}

// LargestRatio returns the largest result of [Posterior.LogRatio] over all answers, rounded up, and the answer that
// attains it.
func (s Study) LargestRatio() (upper float64, answer int64, err error) {
	prior, err := s.priors()
	if err != nil {
		return 0, 0, err
	}
	for a := range int64(s.Smokers) + 1 {
		p, err := s.after(prior, a).Posterior()
		if err != nil {
			return 0, 0, err
		}
		if r, _ := p.LogRatio(); r > upper {
			upper, answer = r, a
		}
	}
	return upper, answer, nil
}

// binomial returns the distribution of the number of successes in n trials.
func binomial(n int, p *big.Rat) []*big.Rat {
	law := []*big.Rat{big.NewRat(1, 1)}
	fail := new(big.Rat).Sub(big.NewRat(1, 1), p)
	for range n {
		next := make([]*big.Rat, len(law)+1)
		for k := range next {
			next[k] = new(big.Rat)
			if k < len(law) {
				next[k].Add(next[k], new(big.Rat).Mul(law[k], fail))
			}
			if k > 0 {
				next[k].Add(next[k], new(big.Rat).Mul(law[k-1], p))
			}
		}
		law = next
	}
	return law
}
