package curator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/mechanism"
)

const (
	countAndSum = "SELECT COUNT(*) AS n, (SELECT SUM(age) FROM people) AS s FROM people"
	onlyCount   = "SELECT COUNT(*) FROM people"
	onlySum     = "SELECT SUM(age) FROM people"
)

// breaking is an engine that fails from the question with this number on.
type breaking struct {
	engine.Engine
	from, asked int
}

func (e *breaking) Aggregate(ctx context.Context, b *bounded.Statement, from engine.Sealed) ([][]mechanism.Exact, error) {
	if e.asked++; e.asked >= e.from {
		return nil, errors.New("the power is out")
	}
	return e.Engine.Aggregate(ctx, b, from)
}

// If the second measured question fails, the first stays charged and is replayed free. The second is measured when the
// question is asked again, also by a process that was started anew.
func TestFailureBetweenMeasuredQuestions(t *testing.T) {
	home := newHome(t)
	c := openHome(t, home)
	*inside(c).Engine = &breaking{Engine: *inside(c).Engine, from: 2}
	_, err := c.Answer(t.Context(), Question{SQL: countAndSum})
	var known *Error
	if !errors.As(err, &known) || known.Code != CodeFailed || !known.Charged || !strings.Contains(known.Hint, "replayed free") {
		t.Fatalf("%+v", err)
	}
	after := spent(t, c) // both: an answer that failed stays charged
	_ = c.Close()
	c = openHome(t, home)
	one, err := c.Answer(t.Context(), Question{SQL: onlyCount})
	if err != nil || !one.Replayed || spent(t, c) != after {
		t.Fatalf("%v, %s and %s", err, spent(t, c), after)
	}
	r, err := c.Answer(t.Context(), Question{SQL: countAndSum})
	if err != nil || r.Replayed || !r.Questions[0].Replayed || r.Questions[1].Replayed || r.Questions[0].ID != one.ID {
		t.Fatalf("%v: %+v", err, r)
	}
	if r.Paid == nil || r.Paid.Epsilon != "0.1" || r.Price.Epsilon != "0.2" {
		t.Errorf("%v is paid of %v", r.Paid, r.Price)
	}
	if got := spent(t, c); after != "0.2" || got != "0.3" {
		t.Errorf("%s is spent after the failure, and %s in the end", after, got)
	}
	if r.Rows[0][0].Estimate.Value.Real != one.Rows[0][0].Estimate.Value.Real {
		t.Error("the first measured question has another answer")
	}
}

// spend asks different questions at these prices.
func spend(t *testing.T, c *Owner, prices ...string) {
	t.Helper()
	for i, price := range prices {
		sql := fmt.Sprintf("SELECT COUNT(*) FROM people WHERE age > %d", 50+i)
		if _, err := c.Answer(t.Context(), Question{SQL: sql, Epsilon: price}); err != nil {
			t.Fatal(err)
		}
	}
}

// A budget that suffices for one of two measured questions is not touched.
func TestBudgetForOneOfTwoQuestions(t *testing.T) {
	c := openHome(t, newHome(t))
	spend(t, c, "0.5", "0.35")
	q := Question{SQL: countAndSum} // 0.15 remains, and each has 0.1
	e, err := c.Explain(t.Context(), q)
	if err != nil || e.Affordable || e.Price.Epsilon != "0.2" {
		t.Errorf("%v: %+v", err, e)
	}
	_, err = c.Answer(t.Context(), q)
	var known *Error
	if !errors.As(err, &known) || known.Code != CodeExhausted || known.Charged || spent(t, c) != "0.85" {
		t.Fatalf("%v, %s is spent", err, spent(t, c))
	}
	if !strings.Contains(known.Hint, "--epsilon 0.15") {
		t.Error(known.Hint)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: countAndSum, Epsilon: "0.15"}); err != nil || spent(t, c) != "1" {
		t.Errorf("%v, %s is spent", err, spent(t, c))
	}
	// what is released costs nothing, although nothing remains
	if r, err := c.Answer(t.Context(), Question{SQL: countAndSum, Epsilon: "0.15"}); err != nil || !r.Replayed {
		t.Error(err)
	}
}

// A part that was released before is not paid again, so a budget for the other alone suffices.
func TestBudgetForTheOtherQuestion(t *testing.T) {
	c := openHome(t, newHome(t))
	spend(t, c, "0.5", "0.3")
	if _, err := c.Answer(t.Context(), Question{SQL: onlyCount}); err != nil {
		t.Fatal(err)
	}
	r, err := c.Answer(t.Context(), Question{SQL: countAndSum})
	if err != nil || !r.Questions[0].Replayed || spent(t, c) != "1" {
		t.Errorf("%v, %s is spent", err, spent(t, c))
	}
}

// The sum of the prices is at most the policy's maximum, and each share is at least its minimum.
func TestPriceLimitsOfSeveralQuestions(t *testing.T) {
	home := newHome(t)
	text := must[[]byte](t)(os.ReadFile(filepath.Join(home, "policy.yaml")))
	write(t, home, "policy.yaml", strings.Replace(string(text), "{default: 0.1, maximum: 0.5}", "{default: 0.3, maximum: 0.5, minimum: 0.05}", 1))
	c := openHome(t, home)
	for _, q := range []struct{ epsilon, want string }{
		{"", "cost ε = 0.6 together, more than the policy's maximum of ε = 0.5"},
		{"0.6", "0.5"},
		{"0.09", "divide its price equally"},
	} {
		_, err := c.Answer(t.Context(), Question{SQL: countAndSum, Epsilon: q.epsilon})
		var known *Error
		if !errors.As(err, &known) || known.Code != CodePolicy || !errors.Is(err, ErrPriceLimits) || !strings.Contains(known.Message, q.want) {
			t.Errorf("%q: %v", q.epsilon, err)
		}
	}
	if got := spent(t, c); got != "0" {
		t.Errorf("%s is spent", got)
	}
	for _, epsilon := range []string{"0.1", "0.5"} {
		if _, err := c.Answer(t.Context(), Question{SQL: countAndSum, Epsilon: epsilon}); err != nil {
			t.Errorf("%q: %v", epsilon, err)
		}
	}
	if got := spent(t, c); got != "0.6" {
		t.Errorf("%s is spent", got)
	}
}

// Several measured questions are charged to the analyst who asks them. Their prices together must fit into that analyst's
// remaining budget.
func TestSeveralQuestionsOfAnAnalyst(t *testing.T) {
	c := sharesHome(t, "add-remove")
	sql := "SELECT COUNT(*) AS n, (SELECT SUM(euros) FROM bills) AS s FROM visits"
	ask := func(analyst, epsilon string) (*Release, error) {
		return c.Answer(t.Context(), Question{SQL: sql, Epsilon: epsilon, Analyst: analyst})
	}
	if _, err := ask("ann", "1"); err != nil {
		t.Fatal(err)
	}
	b := must[*Budget](t)(c.Budget())
	if b.Analysts[0].Spent.Epsilon != "1" || b.Analysts[1].Spent.Epsilon != "0" {
		t.Errorf("%+v", b.Analysts)
	}
	var known *Error
	_, err := ask("ann", "0.8") // each 0.4 fits into her 0.5, and both do not
	if !errors.As(err, &known) || known.Code != CodeExhausted || known.Charged {
		t.Errorf("%v", err)
	}
	if r, err := ask("ben", "1"); err != nil || !r.Replayed {
		t.Errorf("ben replays them: %v", err)
	}
	if _, err := ask("eve", "1"); codeOf(err) != CodeAnalyst {
		t.Errorf("eve: %v", err)
	}
	if _, err := ask("ben", "0.8"); err != nil {
		t.Error(err)
	}
	b = must[*Budget](t)(c.Budget())
	if b.Analysts[0].Spent.Epsilon != "1" || b.Analysts[1].Spent.Epsilon != "0.8" {
		t.Errorf("%+v", b.Analysts)
	}
}

// Asked afresh, each measured question is measured anew and paid anew.
func TestSeveralQuestionsAfresh(t *testing.T) {
	c := openHome(t, newHome(t))
	first := must[*Release](t)(c.Answer(t.Context(), Question{SQL: countAndSum}))
	again := must[*Release](t)(c.Answer(t.Context(), Question{SQL: countAndSum, Fresh: true}))
	ids := map[string]bool{}
	for _, r := range []*Release{first, again} {
		for _, m := range r.Questions {
			ids[m.ID] = true
			if m.Replayed {
				t.Error(m.ID, "was replayed")
			}
		}
	}
	if got := spent(t, c); len(ids) != 4 || got != "0.4" {
		t.Errorf("%v, %s is spent", ids, got)
	}
}

// Both measured questions of unknown keys have a δ of their own.
func TestDeltaOfSeveralQuestions(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := sealedHome(t, "ferry")
	const sql = "SELECT a.agent, a.n, b.s FROM (SELECT agent, COUNT(*) AS n FROM trips GROUP BY agent) a " +
		"LEFT JOIN (SELECT agent, SUM(fare) AS s FROM trips GROUP BY agent) b ON a.agent = b.agent"
	before := must[*Budget](t)(c.Budget())
	r, err := c.Answer(t.Context(), Question{SQL: sql, Delta: "1e-8"})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Questions {
		e, err := c.Explain(t.Context(), Question{SQL: m.SQL, Delta: "1e-8"})
		if err != nil || !e.Replayed || e.Selection == nil || e.Selection.Delta != "0.00000001" {
			t.Errorf("%s: %v", m.SQL, err)
		}
	}
	after := must[*Budget](t)(c.Budget())
	if len(r.Questions) != 2 || before.Remaining.Delta != "0.0000005" || after.Remaining.Delta != "0.00000048" {
		t.Errorf("δ of unknown keys: %s before, %s after", before.Remaining.Delta, after.Remaining.Delta)
	}
	// δ for one of two does not suffice
	_, err = c.Answer(t.Context(), Question{SQL: sql, Delta: "2.45e-7"})
	if codeOf(err) != CodeExhausted || !strings.Contains(err.Error(), "--delta") || must[*Budget](t)(c.Budget()).Remaining.Delta != after.Remaining.Delta {
		t.Error(err)
	}
}

// Under an answer_delay the second measured question arrives when the first is released. Until then the home shows the same
// for rows of two neighbours, and for an engine that is quick or slow; the answer leaves at the second release.
func TestInstantsOfSeveralQuestions(t *testing.T) {
	there := handing(t)
	type outcome struct {
		before, between string
		releases        [2]time.Time
	}
	outcomes := map[string]outcome{}
	for name, more := range map[string]string{"quick": "", "slow": "", "twin": "31,north,180\n"} {
		c, clock := waits(t, delayedHome(t, more))
		e := &course{Engine: *inside(c).Engine, asked: make(chan struct{}, 2)}
		if name == "slow" {
			e.let = make(chan struct{}, 2)
		}
		*inside(c).Engine = e
		answers := make(chan error, 1)
		go func() {
			_, err := c.Answer(t.Context(), Question{SQL: countAndSum})
			answers <- err
		}()
		var o outcome
		start := clock.Now()
		for part := range 2 {
			<-e.asked
			clock.next()
			if name != "slow" {
				<-there
			}
			if part == 0 {
				o.before = everyDoor(t, c)
			} else {
				o.between = everyDoor(t, c)
			}
			if name == "slow" {
				e.let <- struct{}{}
				<-there
			}
			select {
			case err := <-answers:
				t.Fatalf("%s: %v before part %d is released", name, err, part+1)
			default:
			}
			o.releases[part] = strike(clock)
		}
		if err := <-answers; err != nil {
			t.Fatal(name, err)
		}
		if first, second := o.releases[0].Sub(start), o.releases[1].Sub(o.releases[0]); first != time.Second || second != time.Second {
			t.Errorf("%s: the parts take %v and %v", name, first, second)
		}
		outcomes[name] = o
	}
	quick := outcomes["quick"]
	for name, o := range outcomes {
		if o.before != quick.before || o.releases != quick.releases {
			t.Errorf("%s is known before its instant:\n%s", name, difference(o.before, quick.before))
		}
		if shape(o.between) != shape(quick.between) {
			t.Errorf("%s is known between the instants:\n%s", name, difference(shape(o.between), shape(quick.between)))
		}
	}
	if shape(quick.before) == shape(quick.between) {
		t.Error("the first release shows nothing: this test sees nothing")
	}
}

// shape drops the released numbers of a text of everyDoor.
func shape(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "asked") {
			out = append(out, line)
		} else {
			out = append(out, line[:min(9, len(line))]+"\n")
		}
	}
	return strings.Join(out, "")
}
