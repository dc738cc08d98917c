package curator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/ledger"
	"dither/internal/release"
	"dither/mechanism"
)

const delayed = "answer_delay: {quantum: 1s, floor: 500ms, factor: 100ns, rows: 100}\n"

// delayedHome is a sealed home whose answers have an instant; more is a unit that it has and its twin lacks.
func delayedHome(t testing.TB, more string) string {
	t.Helper()
	home := newHome(t)
	write(t, home, "policy.yaml", strings.Replace(testPolicy, "tables:\n", delayed+"tables:\n", 1))
	write(t, home, "people.csv", "age,region,height\n33,north,170.5\n40,south,NaN\n130,,1e300\n-5,west,\n"+more)
	c := openHome(t, home)
	if _, err := c.Seal(t.Context(), "people", SealOptions{}); err != nil {
		t.Fatal(err)
	}
	return home
}

// waits opens a home with a clock that stands.
func waits(t testing.TB, home string) (*Owner, *fakeClock) {
	t.Helper()
	c, f := openHome(t, home), newFakeClock()
	*inside(c).Clock = f
	return c, f
}

// course is what an engine does of a question: how it ends, and when the test lets it.
type course struct {
	engine.Engine
	asked chan struct{}
	let   chan struct{} // nil: at once
	err   error         // what it fails with; nil: it adds up
	boom  bool
	deaf  bool // goes on though it is told to stop
}

func (e *course) run(ctx context.Context) error {
	e.asked <- struct{}{}
	if e.let != nil {
		if e.deaf {
			<-e.let
		} else {
			select {
			case <-e.let:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	if e.boom {
		panic("a row that nobody thought of")
	}
	return e.err
}

func (e *course) Aggregate(ctx context.Context, b *bounded.Statement, from engine.Sealed) ([][]mechanism.Exact, error) {
	if err := e.run(ctx); err != nil {
		return nil, err
	}
	return e.Engine.Aggregate(context.WithoutCancel(ctx), b, from)
}

func (e *course) Rows(ctx context.Context, b *bounded.Statement, from engine.Sealed, into *mechanism.Rows) error {
	if err := e.run(ctx); err != nil {
		return err
	}
	return e.Engine.Rows(context.WithoutCancel(ctx), b, from, into)
}

// handing gives a channel on which every result is announced.
func handing(t *testing.T) <-chan struct{} {
	there := make(chan struct{}, 100)
	*inside(nil).HandedOver = func() { there <- struct{}{} }
	t.Cleanup(func() { *inside(nil).HandedOver = func() {} })
	return there
}

// strike moves the clock to the instant that is waited for, and gives it.
func strike(clock *fakeClock) time.Time {
	cut := clock.next()
	clock.set(cut)
	leaves := clock.next()
	for leaves.Equal(cut) {
		leaves = clock.next()
	}
	clock.set(leaves)
	return leaves
}

// everyDoor is all that the doors of a home show an analyst: through this handle, through another one, and through one that is opened for it. What
// only the owner's folder shows is not among it; the ledger's length is, since the next reservation's name tells it.
func everyDoor(t *testing.T, handles ...*Owner) string {
	t.Helper()
	var out strings.Builder
	handles = append(handles, openHome(t, handles[0].home))
	for _, c := range handles {
		for _, q := range []Question{{SQL: countSQL}, {SQL: "SELECT COUNT(*) AS n FROM people"}, {SQL: countSQL, Combine: true}} {
			e, err := c.Explain(t.Context(), q)
			text, _ := json.Marshal(e)
			fmt.Fprintf(&out, "explain %s %v\n", text, err)
		}
		budget, err := c.Budget()
		text, _ := json.Marshal(budget)
		fmt.Fprintf(&out, "budget %s %v\n", text, err)
		tables, err := c.Tables()
		text, _ = json.Marshal(tables)
		fmt.Fprintf(&out, "tables %s %v\n", text, err)
		for i := range 12 {
			asked, err := c.Asked(fmt.Sprintf("r%d", i), Question{})
			text, _ = json.Marshal(asked)
			fmt.Fprintf(&out, "asked %d %s %v\n", i, text, err)
		}
		fmt.Fprintf(&out, "entries %d\n", c.ledger.Head().Index)
		err = c.ledger.Entries(func(e ledger.Entry) error {
			fmt.Fprintf(&out, "entry %d %s\n", e.Index, e.Kind)
			return nil
		})
		held, _ := os.ReadDir(filepath.Join(c.home, "underway"))
		fmt.Fprintf(&out, "%v, held %v\n", err, held)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		done, _, err := inside(c).Underway(ctx, heldKey(t, c))
		cancel()
		if err == nil {
			done()
		}
		fmt.Fprintf(&out, "who asks for the same: %v\n", err)
	}
	return out.String()
}

func heldKey(t *testing.T, c *Owner) string {
	return must[*asked](t)(c.ask(Question{SQL: countSQL})).look.Key()
}

// timed tells what time a question has.
type timed struct {
	engine.Engine
	has chan time.Duration // none: -1
}

func (e timed) Aggregate(ctx context.Context, b *bounded.Statement, from engine.Sealed) ([][]mechanism.Exact, error) {
	left := time.Duration(-1)
	if at, ok := ctx.Deadline(); ok {
		left = time.Until(at)
	}
	e.has <- left
	return e.Engine.Aggregate(ctx, b, from)
}

// The server gets a time limit (statement_timeout), with which it ends a statement by itself. It gets one too where answers
// have an instant, and the limit is not before the instant.
func TestInstantsHaveATimeout(t *testing.T) {
	c, clock := waits(t, delayedHome(t, ""))
	e := timed{*inside(c).Engine, make(chan time.Duration, 1)}
	*inside(c).Engine = e
	there := handing(t)
	done := make(chan error, 1)
	go func() { _, err := c.Answer(t.Context(), Question{SQL: countSQL}); done <- err }()
	<-there
	strike(clock)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if left := <-e.has; left <= time.Minute || left > release.DefaultTimeout {
		t.Errorf("a statement has %v", left)
	}
}

// Whatever an engine does of a question (it is quick, slow, deaf or fails), and whichever of two neighbours its rows are, every door of the home shows the
// same until the answer's instant, which is the same; there are two things that it can show then.
func TestNothingIsKnownBeforeTheInstant(t *testing.T) {
	type outcome struct {
		before, at, after string
		leaves            time.Time
		code              Code
	}
	outcomes := map[string]outcome{}
	there := handing(t)
	for name, e := range map[string]*course{
		"quick":  {},
		"slow":   {let: make(chan struct{})},
		"late":   {let: make(chan struct{})},
		"deaf":   {let: make(chan struct{}), deaf: true},
		"fails":  {err: errors.New("conversion failed on 'Alice'")},
		"breaks": {boom: true},
		"twin":   {},
	} {
		more := ""
		if name == "twin" || name == "slow" {
			more = "31,north,180\n"
		}
		home := delayedHome(t, more)
		c, clock := waits(t, home)
		two, _ := waits(t, home)
		e.Engine, e.asked = *inside(c).Engine, make(chan struct{}, 1)
		*inside(c).Engine = e
		type said struct {
			r   *Release
			err error
		}
		answers := make(chan said, 1)
		go func() {
			r, err := c.Answer(t.Context(), Question{SQL: countSQL})
			answers <- said{r, err}
		}()
		<-e.asked
		var o outcome
		cut := clock.next()
		if e.let == nil {
			<-there
		}
		o.before = everyDoor(t, c, two)
		if name == "slow" {
			close(e.let)
			<-there
		}
		clock.set(cut)
		if name == "late" {
			<-there // it stops as it was told to
		}
		for o.leaves = cut; o.leaves.Equal(cut); {
			o.leaves = clock.next()
		}
		o.at = everyDoor(t, c, two)
		select {
		case s := <-answers:
			t.Errorf("%s: %+v before its instant", name, s)
		default:
		}
		clock.set(o.leaves)
		s := <-answers
		o.code = codeOf(s.err)
		o.after = everyDoor(t, c, two)
		outcomes[name] = o
		if want := map[string]Code{"late": CodeFailed, "deaf": CodeFailed, "fails": CodeFailed, "breaks": CodeFailed}[name]; o.code != want {
			t.Errorf("%s: %v", name, s.err)
		}
		if name == "deaf" {
			close(e.let)
			<-there
		}
	}
	quick, fails := outcomes["quick"], outcomes["fails"]
	for name, o := range outcomes {
		if o.before != quick.before || o.at != quick.at || !o.leaves.Equal(quick.leaves) {
			t.Errorf("%s is known before its instant: it leaves at %v, and another at %v\n%s\n%s", name, o.leaves, quick.leaves, difference(o.before, quick.before), difference(o.at, quick.at))
		}
		if o.code == CodeFailed && o.after != fails.after {
			t.Errorf("%s is another failure:\n%s", name, difference(o.after, fails.after))
		}
	}
	if quick.before != quick.at || quick.at == quick.after || quick.after == fails.after {
		t.Error("nothing changes at the instant: this test sees nothing")
	}
}

// outOfTime is a context whose time runs out when it is told to.
type outOfTime struct {
	context.Context
	done chan struct{}
}

func (o *outOfTime) Done() <-chan struct{} { return o.done }

func (o *outOfTime) Err() error {
	select {
	case <-o.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// Who gives a question up is told so at once, and the same whether its answer was there or not; so is who gives it a time that ends before its instant. What was there is
// lost: asking again is a new question.
func TestGivenUpBeforeTheInstant(t *testing.T) {
	there := handing(t)
	var said, doors []string
	for _, e := range []*course{{}, {let: make(chan struct{})}, {err: errors.New("Alice")}, {let: make(chan struct{}), deaf: true}} {
		for _, timed := range []bool{false, true} {
			c, clock := waits(t, delayedHome(t, ""))
			run := &course{Engine: *inside(c).Engine, asked: make(chan struct{}, 1), let: e.let, err: e.err, deaf: e.deaf}
			if e.let != nil {
				run.let = make(chan struct{})
			}
			*inside(c).Engine = run
			ctx, cancel := context.WithCancel(t.Context())
			if timed {
				timesOut := &outOfTime{t.Context(), make(chan struct{})}
				cancel()
				ctx, cancel = timesOut, sync.OnceFunc(func() { close(timesOut.done) })
			}
			answers := make(chan error, 1)
			go func() {
				_, err := c.Answer(ctx, Question{SQL: countSQL})
				answers <- err
			}()
			<-run.asked
			clock.next()
			if e.let == nil {
				<-there
			}
			cancel()
			err := <-answers
			if codeOf(err) != CodeCancelled {
				t.Errorf("%v", err)
			}
			said, doors = append(said, fmt.Sprintf("%+v", err)), append(doors, everyDoor(t, c))
			if e.deaf {
				close(run.let)
			}
			if e.let != nil {
				<-there
			}
			if after := everyDoor(t, c); after != doors[0] {
				t.Error(difference(after, doors[0]))
			}
		}
	}
	for i := range said {
		if said[i] != said[0] || doors[i] != doors[0] {
			t.Errorf("%s, and %s\n%s", said[i], said[0], difference(doors[i], doors[0]))
		}
	}
}

// A question whose instant would be later than an answer may take is refused, by explain too; one that comes to its turn late is refused, free.
func TestNoInstantForIt(t *testing.T) {
	c, clock := waits(t, delayedHome(t, ""))
	*inside(c).Limit = 900 * time.Millisecond
	for _, ask := range []func() error{
		func() error { _, err := c.Answer(t.Context(), Question{SQL: countSQL}); return err },
		func() error { _, err := c.Explain(t.Context(), Question{SQL: countSQL}); return err },
	} {
		var e *Error
		if err := ask(); !errors.As(err, &e) || e.Code != CodePolicy || !strings.Contains(e.Message, "answer_delay") {
			t.Errorf("%v", err)
		}
	}
	*inside(c).Limit = time.Second
	if e, err := c.Explain(t.Context(), Question{SQL: countSQL}); err != nil || !slices.Contains(e.Notes, "The answer, or the error, leaves 1s after the question arrives.") ||
		slices.ContainsFunc(e.AnswerNotes(), func(n string) bool { return strings.Contains(n, "leaves") }) {
		t.Errorf("%+v, %v", e, err)
	}
	one := must[*big.Int](t)(c.Work(Question{SQL: countSQL}, func(string) int64 { return 100 }))
	if ten := must[*big.Int](t)(c.Work(Question{SQL: countSQL}, func(string) int64 { return 1000 })); one.Sign() <= 0 || ten.Cmp(new(big.Int).Mul(one, big.NewInt(9))) < 0 {
		t.Errorf("%v, of ten times the rows %v", one, ten)
	}
	ctx := c.kernel.Arrives(t.Context())
	clock.set(clock.Now().Add(501 * time.Millisecond))
	var e *Error
	if _, err := c.Answer(ctx, Question{SQL: countSQL}); !errors.As(err, &e) || e.Code != CodeUnavailable || !e.Retry || e.Charged {
		t.Errorf("%v", err)
	}
	if s, _ := c.ledger.State(); s.Reservations != 0 {
		t.Errorf("%d reservations", s.Reservations)
	}
}

// Answers that go to analysts need an instant.
func TestAnalystsNeedInstants(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if _, err := OpenWith(newHome(t), Options{Analysts: true}); codeOf(err) != CodePolicy || !strings.Contains(err.Error(), "answer_delay") {
		t.Errorf("%v", err)
	}
	c, err := OpenWith(delayedHome(t, ""), Options{Analysts: true})
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	lines := strings.Join(must[[]string](t)(CheckPolicy(c.home)), "\n")
	if !strings.Contains(lines, "answers leave at multiples of 1s from arrival, once 500ms and 100ns for each unit") || !strings.Contains(lines, "this is the policy in force") {
		t.Error(lines)
	}
}

// A replay leaves at once, and so does a refusal: neither waits for a clock that stands.
func TestReplaysLeaveAtOnce(t *testing.T) {
	there := handing(t)
	c, clock := waits(t, delayedHome(t, ""))
	answers := make(chan error, 1)
	go func() {
		_, err := c.Answer(t.Context(), Question{SQL: countSQL})
		answers <- err
	}()
	<-there
	strike(clock)
	if err := <-answers; err != nil {
		t.Fatal(err)
	}
	if r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: countSQL})); !r.Replayed {
		t.Error("it was measured again")
	}
	if r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: countSQL + " ORDER BY n LIMIT 1"})); !r.Replayed {
		t.Error("it was measured again")
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT name FROM people"}); codeOf(err) != CodePolicy && codeOf(err) != CodeSQL {
		t.Error(err)
	}
}

// Each verdict of a stream has an instant of its own: nothing is recorded before, whatever its rows do; a late one is the failure that ends the stream.
func TestVerdictsHaveInstants(t *testing.T) {
	there := handing(t)
	const sql = "SELECT COUNT(*) FROM people"
	type outcome struct {
		before string
		leaves time.Time
		code   Code
	}
	outcomes := map[string]outcome{}
	for name, e := range map[string]*course{
		"quick": {}, "late": {let: make(chan struct{})}, "fails": {err: errors.New("Alice")}, "deaf": {let: make(chan struct{}), deaf: true}, "twin": {},
	} {
		c, clock := waits(t, delayedHome(t, map[string]string{"twin": "31,north,180\n"}[name]))
		s := must[*Stream](t)(c.Above(t.Context(), Threshold{Table: "people", Threshold: "100000"}))
		e.Engine, e.asked = *inside(c).Engine, make(chan struct{}, 1)
		*inside(c).Engine = e
		verdicts := make(chan error, 1)
		go func() {
			v, err := s.Ask(t.Context(), sql)
			if err == nil && v.Above {
				t.Error("it is above")
			}
			verdicts <- err
		}()
		<-e.asked
		if e.let == nil {
			<-there
		}
		clock.next()
		o := outcome{before: everyDoor(t, c)}
		o.leaves = strike(clock)
		o.code = codeOf(<-verdicts)
		outcomes[name] = o
		steps := 0
		if err := c.ledger.Entries(func(e ledger.Entry) error {
			if e.Kind == ledger.KindStep {
				steps++
			}
			return nil
		}); err != nil || (steps == 1) != (o.code == "") {
			t.Errorf("%s: %d steps, %v", name, steps, err)
		}
		if want := map[string]Code{"late": CodeFailed, "fails": CodeFailed, "deaf": CodeFailed}[name]; o.code != want {
			t.Errorf("%s: %s", name, o.code)
		}
		if _, err := s.Ask(t.Context(), "SELECT region FROM people"); (codeOf(err) == CodeUsage) != (o.code == CodeFailed) {
			t.Errorf("%s: then %v", name, err)
		}
		if e.deaf {
			close(e.let)
		}
		if e.let != nil {
			<-there
		}
	}
	for name, o := range outcomes {
		if quick := outcomes["quick"]; o.before != quick.before || !o.leaves.Equal(quick.leaves) {
			t.Errorf("%s: %v\n%s", name, o.leaves, difference(o.before, quick.before))
		}
	}
}

// Each step of a training has an instant; one that is given up before can be taken again, and one that is late is lost with the training.
func TestStepsHaveInstants(t *testing.T) {
	there := handing(t)
	home := fitHome(t, trainBudget, "add-remove", 300)
	text := must[[]byte](t)(os.ReadFile(filepath.Join(home, "policy.yaml")))
	write(t, home, "policy.yaml", strings.Replace(string(text), "tables:\n", strings.Replace(delayed, "100ns", "1ns", 1)+"tables:\n", 1))
	c, clock := waits(t, home)
	tr := must[*Trainer](t)(c.Train(t.Context(), logisticTraining()))
	entries := func() uint64 { return c.ledger.Head().Index }
	theta, reserved := make([]float64, 3), entries()

	e := &course{Engine: *inside(c).Engine, asked: make(chan struct{}, 1), let: make(chan struct{}), deaf: true}
	*inside(c).Engine = e
	steps := make(chan error, 1)
	step := func(ctx context.Context) {
		go func() {
			_, err := tr.Step(ctx, theta)
			steps <- err
		}()
	}
	ctx, cancel := context.WithCancel(t.Context())
	step(ctx)
	<-e.asked
	clock.next()
	cancel()
	var gone *Error
	if err := <-steps; !errors.As(err, &gone) || gone.Code != CodeCancelled || !gone.Retry || entries() != reserved+1 {
		t.Fatalf("given up: %v, %d entries", err, entries())
	}
	reserved++
	theta[0] = 1 // whose step it was may go on, with what it was given
	close(e.let)
	<-there
	theta[0] = 0

	e.let = nil
	step(t.Context())
	<-e.asked
	<-there
	if clock.next(); entries() != reserved {
		t.Error("a step is recorded before its instant")
	}
	if at := strike(clock); !at.Equal(clock.Now()) || <-steps != nil || entries() != reserved+1 {
		t.Errorf("%d entries", entries()-reserved)
	}

	insideTraining(tr).Unread()
	e.let = make(chan struct{})
	step(t.Context())
	<-e.asked
	strike(clock)
	if err := <-steps; codeOf(err) != CodeFailed || entries() != reserved+2 {
		t.Errorf("late: %v", err)
	}
	close(e.let)
	<-there
	if _, err := tr.Step(t.Context(), theta); codeOf(err) != CodeUsage {
		t.Errorf("after it: %v", err)
	}
}

// difference is the first line in which two texts differ.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] + "\n" + y[i]
		}
	}
	return ""
}
