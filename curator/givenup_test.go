package curator

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/ledger"
	"dither/mechanism"
)

// patient is an engine that answers when it is no longer asked, as it is told to.
type patient struct {
	engine.Engine
	asked func()
	says  func(context.Context) error // nil: what it finds
}

func (p patient) Aggregate(ctx context.Context, b *bounded.Statement, from engine.Sealed) ([][]mechanism.Exact, error) {
	p.asked()
	<-ctx.Done()
	if err := p.says(ctx); err != nil {
		return nil, err
	}
	return p.Engine.Aggregate(context.WithoutCancel(ctx), b, from)
}

func (p patient) Rows(ctx context.Context, b *bounded.Statement, from engine.Sealed, into *mechanism.Rows) error {
	p.asked()
	<-ctx.Done()
	if err := p.says(ctx); err != nil {
		return err
	}
	return p.Engine.Rows(context.WithoutCancel(ctx), b, from, into)
}

// What is told of a question that was given up is the same whatever its engine was about to say, and nothing of that counts as a failure. An answer that
// was found all the same is told: it is recorded.
func TestGivenUpSaysNothing(t *testing.T) {
	c := openHome(t, newHome(t))
	works := *inside(c).Engine
	q := Question{SQL: countSQL, Epsilon: "0.001", Fresh: true}
	want := Error{Code: CodeCancelled, Charged: true, Message: "the question was cancelled; its price stays spent", Hint: "asking again is charged again"}
	giveUp := func(says func(context.Context) error) error {
		ctx, cancel := context.WithCancel(t.Context())
		*inside(c).Engine = patient{works, cancel, says}
		_, err := c.Answer(ctx, q)
		return err
	}
	for range ledger.MaxFailures {
		if err := c.ledger.Resume(); err != nil { // else ten that are given up suspend who asks
			t.Fatal(err)
		}
		for _, says := range []func(context.Context) error{
			func(ctx context.Context) error { return ctx.Err() },
			func(context.Context) error { return errors.New("conversion failed on 'Alice, HIV positive'") },
			func(context.Context) error { return &engine.RefusedError{Message: "Alice"} },
		} {
			var e *Error
			if err := giveUp(says); !errors.As(err, &e) || *e != want {
				t.Fatalf("%v", err)
			}
		}
	}
	if err := giveUp(func(context.Context) error { return nil }); err != nil {
		t.Errorf("with its answer: %v", err)
	}
	if b := must[*Budget](t)(c.Budget()); b.Failures != 0 || b.Answers != 1 || b.Lost == nil || b.Lost.GivenUp != 3*ledger.MaxFailures || b.Lost.Failed != 0 || b.Lost.Open != 0 || b.Spent.Epsilon != "0.031" {
		t.Errorf("%+v, lost %+v", b, b.Lost)
	}

	// A time that runs out is a failure, whoever set it: what the rows are has a part in it.
	ctx := &outOfTime{t.Context(), make(chan struct{})}
	*inside(c).Engine = patient{works, func() { close(ctx.done) }, func(ctx context.Context) error { return ctx.Err() }}
	if _, err := c.Answer(ctx, q); codeOf(err) != CodeFailed {
		t.Errorf("out of time: %v", err)
	}
	if b := must[*Budget](t)(c.Budget()); b.Failures != 1 {
		t.Errorf("%d failures", b.Failures)
	}
	*inside(c).Engine = works
	if _, err := openHome(t, c.home).Answer(t.Context(), q); err != nil {
		t.Error(err)
	}
}

// A sealing that is given up makes no version, and is no fault of the source's.
func TestSealingGivenUp(t *testing.T) {
	c := openHome(t, newHome(t))
	before := must[*Budget](t)(c.Budget())
	write(t, c.home, "people.csv", "age,region,height\n31,north,170.5\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var e *Error
	if _, err := c.Seal(ctx, "people", SealOptions{}); !errors.As(err, &e) || e.Code != CodeCancelled || e.Charged {
		t.Errorf("%+v", err)
	}
	if r, err := c.Seal(t.Context(), "people", SealOptions{}); err != nil || r.Version != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if after := must[*Budget](t)(c.Budget()); after.Spent != before.Spent {
		t.Errorf("spent %v", after.Spent)
	}
}

// An analyst who gives up ten questions is refused until the owner resumes, in streams too; others go on.
func TestSuspendedAlone(t *testing.T) {
	c := openHome(t, newHome(t))
	works := *inside(c).Engine
	s := must[*Stream](t)(c.Above(t.Context(), Threshold{Table: "people", Threshold: "100000", Analyst: "ann", Epsilon: "0.1"}))
	for range ledger.MaxGivenUp {
		ctx, cancel := context.WithCancel(t.Context())
		*inside(c).Engine = patient{works, cancel, func(ctx context.Context) error { return ctx.Err() }}
		if _, err := c.Answer(ctx, Question{SQL: countSQL, Epsilon: "0.001", Fresh: true, Analyst: "ann"}); codeOf(err) != CodeCancelled {
			t.Fatal(err)
		}
	}
	*inside(c).Engine = works
	for _, ask := range []func() error{
		func() error { _, err := c.Answer(t.Context(), Question{SQL: countSQL, Analyst: "ann"}); return err },
		func() error { _, err := s.Ask(t.Context(), "SELECT COUNT(*) FROM people"); return err },
	} {
		var e *Error
		if err := ask(); !errors.As(err, &e) || e.Code != CodeSuspended || e.Charged || !strings.Contains(e.Message, "10 questions or steps of ann") {
			t.Errorf("%v", err)
		}
	}
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL, Analyst: "bob"}); err != nil {
		t.Error(err)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL, Analyst: "ann"}); err != nil {
		t.Errorf("a replay: %v", err)
	}
	b := must[*Budget](t)(c.Budget())
	if len(b.GivenUp) != 1 || b.GivenUp[0] != (GivenUp{Analyst: "ann", Questions: ledger.MaxGivenUp, Suspended: true}) || b.Failures != 0 {
		t.Errorf("%+v", b)
	}
	if text := string(must[[]byte](t)(json.Marshal(b))); !strings.Contains(text, `"given_up":[{"analyst":"ann","questions":10,"suspended":true}]`) {
		t.Error(text)
	}
	if err := c.ledger.Resume(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ask(t.Context(), "SELECT COUNT(*) FROM people"); err != nil {
		t.Error(err)
	}
}

// Steps of a training that are given up, by a cancellation or by a time that runs out, count like questions that are
// given up: after ten the analyst is refused through every handle, without any reading of the rows, until the owner
// resumes. The training is paid once, and goes on.
func TestStepsGivenUpSuspend(t *testing.T) {
	// The clock is the computer's: a floor of 2.5 s leaves a busy one time to begin a step.
	unhurried := strings.NewReplacer("100ns", "1ns", "500ms", "2500ms").Replace(delayed)
	for name, more := range map[string]string{"at once": "", "at an instant": unhurried} {
		t.Run(name, func(t *testing.T) {
			home := fitHome(t, trainBudget, "add-remove", 300)
			text := must[[]byte](t)(os.ReadFile(filepath.Join(home, "policy.yaml")))
			write(t, home, "policy.yaml", strings.Replace(string(text), "tables:\n", more+"tables:\n", 1))
			c := openHome(t, home)
			works := *inside(c).Engine
			q := logisticTraining()
			q.Analyst = "ann"
			tr := must[*Trainer](t)(c.Train(t.Context(), q))
			paid := must[*Budget](t)(c.Budget())
			_, sums := train(t, tr, 2)
			must[struct{}](t)(struct{}{}, tr.Close())
			reads := 0
			for i := range 3 * ledger.MaxGivenUp {
				c := openHome(t, home) // as another process
				tr := must[*Trainer](t)(c.Train(t.Context(), q))
				if _, same := train(t, tr, 2); strings.Join(same, "") != strings.Join(sums, "") {
					t.Error("other steps")
				}
				var ctx context.Context
				ctx, cancel := context.WithCancel(t.Context())
				if i%2 == 1 {
					cancel()
					timesOut := &outOfTime{t.Context(), make(chan struct{})}
					ctx, cancel = timesOut, sync.OnceFunc(func() { close(timesOut.done) })
				}
				*inside(c).Engine = patient{*inside(c).Engine, func() { reads++; cancel() }, func(ctx context.Context) error { return ctx.Err() }}
				want := CodeCancelled
				if i >= ledger.MaxGivenUp {
					want = CodeSuspended
				}
				if _, err := tr.Step(ctx, make([]float64, 3)); codeOf(err) != want {
					t.Fatalf("step %d: %v", i, err)
				}
				must[struct{}](t)(struct{}{}, errors.Join(tr.Close(), c.Close()))
				cancel()
			}
			if reads != ledger.MaxGivenUp {
				t.Errorf("%d readings of the rows", reads)
			}
			b := must[*Budget](t)(c.Budget())
			counted := GivenUp{Analyst: "ann", Questions: ledger.MaxGivenUp, Suspended: true}
			if len(b.GivenUp) != 1 || b.GivenUp[0] != counted || b.Failures != 0 || b.Lost != nil || b.Spent != paid.Spent {
				t.Errorf("%+v, lost %+v", b, b.Lost)
			}
			*inside(c).Engine = works
			const count = "SELECT COUNT(*) FROM people"
			if _, err := c.Answer(t.Context(), Question{SQL: count, Analyst: "ann"}); codeOf(err) != CodeSuspended {
				t.Errorf("a question: %v", err)
			}
			if r, err := c.Answer(t.Context(), Question{SQL: count, Analyst: "bob"}); err != nil || r == nil {
				t.Errorf("another analyst: %v", err)
			}
			if err := c.ledger.Resume(); err != nil {
				t.Fatal(err)
			}
			resumed := must[*Trainer](t)(c.Train(t.Context(), q))
			if resumed.ID != tr.ID {
				t.Errorf("%s, and then %s", tr.ID, resumed.ID)
			}
			if _, same := train(t, resumed, 3); strings.Join(same[:2], "") != strings.Join(sums, "") {
				t.Error("other steps")
			}
			must[struct{}](t)(struct{}{}, resumed.Close())
		})
	}
}

// A step that nobody reads any rows for is none that was given up: a context that had ended before counts nothing.
func TestStepNotBegunCountsNothing(t *testing.T) {
	c := openHome(t, fitHome(t, trainBudget, "add-remove", 20))
	tr := must[*Trainer](t)(c.Train(t.Context(), logisticTraining()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * ledger.MaxGivenUp {
		if _, err := tr.Step(ctx, make([]float64, 3)); codeOf(err) != CodeCancelled {
			t.Fatal(err)
		}
	}
	if b := must[*Budget](t)(c.Budget()); b.GivenUp != nil {
		t.Errorf("%+v", b.GivenUp)
	}
}

// A step that is given up after the owner gave its training up ends the training here too: else it could be given up
// again and again, and count nothing.
func TestStepGivenUpOfWhatIsGone(t *testing.T) {
	c := openHome(t, fitHome(t, trainBudget, "add-remove", 20))
	tr := must[*Trainer](t)(c.Train(t.Context(), logisticTraining()))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	*inside(c).Engine = patient{*inside(c).Engine, func() {
		if err := inside(c).Ledger.Abandon(tr.training.ID()); err != nil {
			t.Error(err)
		}
		cancel()
	}, func(ctx context.Context) error { return ctx.Err() }}
	if _, err := tr.Step(ctx, make([]float64, 3)); codeOf(err) != CodeFailed {
		t.Errorf("%v", err)
	}
	if _, err := tr.Step(ctx, make([]float64, 3)); codeOf(err) != CodeUsage {
		t.Errorf("after it: %v", err)
	}
}

// TestStepsHaveRoom: before rows are read for a step, the ledger has room to record that it was given up, also in a
// process that did not begin the training. And a step that was read and cannot be recorded counts as one that was given
// up, and ends the training there.
func TestStepsHaveRoom(t *testing.T) {
	home := fitHome(t, trainBudget, "add-remove", 20)
	q := logisticTraining()
	q.Analyst = "ann"
	first := openHome(t, home)
	tr := must[*Trainer](t)(first.Train(t.Context(), q))
	must[struct{}](t)(struct{}{}, errors.Join(tr.Close(), first.Close()))
	log := filepath.Join(home, "ledger.log")
	if err := os.Truncate(log, must[os.FileInfo](t)(os.Stat(log)).Size()); err != nil { // nothing is assured behind its end
		t.Fatal(err)
	}
	free := func() int64 {
		info := must[os.FileInfo](t)(os.Stat(log))
		return info.Sys().(*syscall.Stat_t).Blocks*512 - info.Size()
	}

	c := openHome(t, home)
	tr = must[*Trainer](t)(c.Train(t.Context(), q))
	before, meanwhile := free(), int64(0)
	if f := must[*os.File](t)(os.CreateTemp(home, "")); syscall.Fallocate(int(f.Fd()), 1, 0, 1) != nil {
		t.Skip("the file system cannot reserve space")
	}
	*inside(c).Engine = during{*inside(c).Engine, func() { meanwhile = free() }}
	train(t, tr, 1)
	if before >= 1<<13 || meanwhile < 1<<13 {
		t.Errorf("%d bytes behind the log before a step, and %d while its rows are read", before, meanwhile)
	}

	must[struct{}](t)(struct{}{}, insideTraining(tr).Shut())
	if _, err := tr.Step(t.Context(), make([]float64, 3)); codeOf(err) != CodeFailed {
		t.Errorf("a step that is not recorded: %v", err)
	}
	b := must[*Budget](t)(c.Budget())
	if want := (GivenUp{"ann", 1, false}); len(b.GivenUp) != 1 || b.GivenUp[0] != want {
		t.Errorf("%+v", b.GivenUp)
	}
	if _, err := tr.Step(t.Context(), make([]float64, 3)); codeOf(err) != CodeUsage {
		t.Errorf("after it: %v", err)
	}
}

// Who goes on with a training that another analyst paid for, and gives its steps up, is suspended alone. The steps of a
// suspended analyst's training are nobody's meanwhile, and no rows are read for them.
func TestStepsGivenUpByAnother(t *testing.T) {
	home := fitHome(t, trainBudget, "add-remove", 60)
	q := logisticTraining()
	q.Analyst = "ann"
	first := must[*Trainer](t)(openHome(t, home).Train(t.Context(), q))
	train(t, first, 2)
	must[struct{}](t)(struct{}{}, first.Close())
	reads := 0
	giveUp := func(analyst string) error {
		c := openHome(t, home)
		q := q
		q.Analyst = analyst
		tr := must[*Trainer](t)(c.Train(t.Context(), q))
		if tr.ID != first.ID {
			t.Fatalf("%s, and then %s", first.ID, tr.ID)
		}
		train(t, tr, 2)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		*inside(c).Engine = patient{*inside(c).Engine, func() { reads++; cancel() }, func(ctx context.Context) error { return ctx.Err() }}
		_, err := tr.Step(ctx, make([]float64, 3))
		return errors.Join(err, tr.Close(), c.Close())
	}
	suspends := func(analyst string, others ...string) {
		t.Helper()
		reads = 0
		for i := range 3 * ledger.MaxGivenUp {
			want := CodeCancelled
			if i >= ledger.MaxGivenUp {
				want = CodeSuspended
			}
			if err := giveUp(analyst); codeOf(err) != want {
				t.Fatalf("step %d of %s: %v", i, analyst, err)
			}
		}
		if reads != ledger.MaxGivenUp {
			t.Errorf("%d readings of the rows", reads)
		}
		c := openHome(t, home)
		b := must[*Budget](t)(c.Budget())
		if want := (GivenUp{analyst, ledger.MaxGivenUp, true}); len(b.GivenUp) != 1 || b.GivenUp[0] != want {
			t.Errorf("%+v", b.GivenUp)
		}
		for _, other := range others {
			q := Question{SQL: "SELECT COUNT(*) FROM people", Analyst: other, Fresh: true}
			if _, err := c.Answer(t.Context(), q); err != nil {
				t.Errorf("%s: %v", other, err)
			}
		}
	}
	suspends("bob", "ann", "")
	c := openHome(t, home)
	tr := must[*Trainer](t)(c.Train(t.Context(), q))
	train(t, tr, 3) // it goes on
	must[struct{}](t)(struct{}{}, errors.Join(tr.Close(), c.ledger.Resume()))
	q.SQL += " WHERE x1 > 0" // a training of its own
	first = must[*Trainer](t)(c.Train(t.Context(), q))
	train(t, first, 2)
	must[struct{}](t)(struct{}{}, first.Close())
	suspends("ann", "bob", "")
	reads = 0
	if err := giveUp("bob"); codeOf(err) != CodeSuspended || reads != 0 {
		t.Errorf("a suspended analyst's training: %v, %d readings", err, reads)
	}
	q.Analyst = "no name \xff" // who could not be counted
	if _, err := c.Train(t.Context(), q); codeOf(err) != CodeUsage {
		t.Errorf("%v", err)
	}
}
