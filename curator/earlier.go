package curator

import (
	"cmp"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"sync"

	"dither/internal/derive"
	"dither/internal/ledger"
	"dither/internal/parallel"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/release"
	"dither/internal/reuse"
)

// Limits on the earlier releases that are examined for one question: the number of releases, of their measures and
// of their numbers. The releases with the highest price per measure come first.
const (
	mostEarlier         = 100
	mostEarlierMeasures = 1_000
	mostEarlierNumbers  = 20_000
)

// earlier returns the earlier releases that help to answer a question, and their names. Each has the same policy
// and the same sealed versions. Each was planned again, and the new plan has the recorded replay key. So the plan
// determines what the recorded numbers measure.
func (c *Session) earlier(a *asked) ([]*derive.Earlier, []release.Released, error) {
	about := &ledger.Subject{}
	// no release can help to answer such a question
	if about.Measures, about.Conditions = reuse.Marks(a.plan); len(about.Measures) == 0 {
		return nil, nil, nil
	}
	sources, digest := a.look.Sources(), c.policy.Digest()
	answers, err := c.ledger.Answers(func(of *ledger.About) bool {
		return of.Policy == digest && slices.Equal(of.Sources, sources) && of.Subject.MayTell(about)
	})
	if err != nil {
		return nil, nil, err
	}
	tellers, err := c.tellers(a, answers)
	if err != nil {
		return nil, nil, err
	}
	var out []*derive.Earlier
	var names []release.Released
	for _, t := range tellers {
		if t.err != nil {
			return nil, nil, t.err
		}
		if t.numbers != nil {
			e := &derive.Earlier{Plan: t.plan, Numbers: t.numbers}
			if t.strategy != nil {
				e.Span = t.strategy.span
			}
			out, names = append(out, e), append(names, release.Released{ID: t.answer.Reserved})
		}
	}
	return out, names, nil
}

// teller is an earlier release that may help to answer a question.
type teller struct {
	answer  ledger.Answer
	as      plannedAs
	paid    ledger.Reservation // the reservation, if the question must still be planned
	plan    *plan.Plan
	numbers [][]*big.Int // nil if the release does not help
	// the measurement of strategies on the plan's groups; nil if the plan itself was released
	strategy *measuredStrategy
	err      error
}

// tellers returns the candidates with the highest price per measure, planned and read, the newest first.
func (c *Session) tellers(a *asked, answers iter.Seq[ledger.Answer]) ([]teller, error) {
	var out []teller
	var unplanned []string
	from, measures, numbers := origins(a.policy), 0, 0
	for _, answer := range dearest(answers) {
		t := teller{answer: answer, as: plannedAs{answer.Reserved, from}}
		known := false
		if t.plan, t.strategy, known = c.plans.of(t.as); known && t.plan == nil {
			continue
		}
		switch {
		case known && t.strategy != nil:
			measures, numbers = measures+1, numbers+t.strategy.plan.Numbers()
		case known:
			measures += len(t.plan.Measures)
			numbers += t.plan.Released() * len(t.plan.Measures)
		default:
			if t.paid, t.err = answer.Reservation(); t.err != nil {
				return nil, t.err
			}
			if _, strategy := strategySQL(t.paid.Question); !strategy {
				unplanned = append(unplanned, t.paid.Question)
			}
			measures += len(t.paid.Mechanisms)
			for _, m := range t.paid.Mechanisms {
				numbers += m.Cells
			}
		}
		if out = append(out, t); measures >= mostEarlierMeasures || numbers >= mostEarlierNumbers {
			break
		}
	}
	slices.SortFunc(out, func(a, b teller) int { return cmp.Compare(b.answer.Reserved, a.answer.Reserved) })
	plan.Ahead(unplanned)
	reader := a.derived.Reader()
	parallel.Each(len(out), func(i int) {
		t := &out[i]
		if t.plan == nil {
			t.plan, t.strategy = c.planOf(t.as, t.paid, a)
		}
		if t.plan != nil && reader.Tells(t.plan) {
			t.read()
		}
	})
	return out, nil
}

// dearest returns at most mostEarlier answers with the highest price per measure, in falling order. Answers of
// equal price keep their order.
func dearest(answers iter.Seq[ledger.Answer]) (out []ledger.Answer) {
	each := func(a ledger.Answer) float64 { return a.Rho / float64(max(len(a.About.Subject.Measures), 1)) }
	for a := range answers {
		i, _ := slices.BinarySearchFunc(out, each(a), func(o ledger.Answer, rho float64) int {
			if each(o) >= rho { // o comes before a
				return -1
			}
			return 1
		})
		if i < mostEarlier {
			out = slices.Insert(out, i, a)
			out = out[:min(len(out), mostEarlier)]
		}
	}
	return out
}

// read reads the release's numbers.
func (t *teller) read() {
	if _, err := t.answer.Values(); err != nil {
		t.err = err
		return
	}
	// if they cannot be decoded, the release does not help
	if t.strategy != nil {
		t.numbers = t.strategy.numbers(t.answer)
		return
	}
	t.numbers, _ = release.NumbersOf(t.answer, t.plan)
}

// planOf plans a recorded question again. It returns nil unless the new plan has the recorded replay key and needs
// no search. The keys can differ, because the ledger does not record every option of a question. For a measurement of
// strategies, the plan is that of its histogram.
func (c *Session) planOf(as plannedAs, r ledger.Reservation, a *asked) (*plan.Plan, *measuredStrategy) {
	if _, is := strategySQL(r.Question); is {
		p, strategy := c.strategyAgain(r, a)
		if p == nil {
			return nil, nil // the home may have its integers later
		}
		c.plans.keep(as.reservation, p, strategy)
		return p, strategy
	}
	p := again(a.policy, r, func(p *plan.Plan) bool {
		return len(p.Searches) == 0 && p.Rows == nil && slices.Equal(p.Tables(), a.plan.Tables()) &&
			p.Key(a.look.Versions()...) == r.Key
	})
	if p == nil {
		c.plans.miss(as)
		return nil, nil
	}
	c.plans.keep(as.reservation, p, nil)
	return p, nil
}

// again plans a recorded question, with the options that the ledger records, until the plan is the one that was carried
// out. It returns nil if there is no such plan. Earlier versions computed each variance from sums, and before that measured
// each sum by itself. They measured counts of all rows that are now a declared number.
func again(p *policy.Policy, r ledger.Reservation, carriedOut func(*plan.Plan) bool) *plan.Plan {
	request := plan.Request{SQL: r.Question, Price: r.Loss}
	if r.Caps != nil {
		request.MaxRows, request.MaxGroups = r.Caps.Rows, r.Caps.Groups
	}
	for {
		out, err := plan.Build(p, request)
		switch {
		case err == nil && carriedOut(out):
			return out
		case err == nil && slices.ContainsFunc(out.Measures, spreads):
			request.Variances = plan.VariancesOfSums
		case err == nil && request.Sums != plan.SumsApart && slices.ContainsFunc(out.Aggregates, plan.Aggregate.Centred):
			request.Sums = plan.SumsApart
		case request.Counts != plan.CountsMeasured && (err != nil || out.Constants): // a declared number alone is no plan
			request.Sums, request.Variances, request.Counts = plan.SumsBeside, plan.VariancesAlone, plan.CountsMeasured
		default:
			return nil
		}
	}
}

// plans caches the plans of recorded questions, and remembers the recorded questions that cannot be planned again.
type plans struct {
	mu     sync.Mutex
	found  map[uint64]*plan.Plan        // by reservation number
	spans  map[uint64]*measuredStrategy // of those that are measurements of strategies
	missed map[plannedAs]bool
}

// plannedAs identifies an attempt to plan a recorded question again: the reservation, and the versions of the
// tables from which columns take their values.
type plannedAs struct {
	reservation uint64
	origins     string
}

// of returns the plan of a reservation, if the cache has it. With known true and a nil plan, the reservation cannot
// be planned again.
func (s *plans) of(m plannedAs) (p *plan.Plan, strategy *measuredStrategy, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p = s.found[m.reservation]
	return p, s.spans[m.reservation], p != nil || s.missed[m]
}

func (s *plans) keep(id uint64, p *plan.Plan, strategy *measuredStrategy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.found) >= 2*mostEarlier || s.found == nil {
		s.found, s.spans = map[uint64]*plan.Plan{}, map[uint64]*measuredStrategy{}
	}
	s.found[id] = p
	if strategy != nil {
		s.spans[id] = strategy
	}
}

func (s *plans) miss(m plannedAs) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.missed) >= 40*mostEarlier || s.missed == nil {
		s.missed = map[plannedAs]bool{}
	}
	s.missed[m] = true
}

// origins lists the versions of the public tables from which columns take their values, as one text.
func origins(p *policy.Policy) string {
	var out []int
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if c.ValuesFrom != nil {
				out = append(out, c.ValuesFrom.Version)
			}
		}
	}
	return fmt.Sprint(out)
}
