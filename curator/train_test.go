package curator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/ledger"
	"dither/internal/release"
)

const trainBudget = "{epsilon: 40, delta: 1e-4, selection_delta: 8e-5}"

func logisticTraining() Training {
	return Training{
		Request: Request{SQL: "SELECT x1, x2, 1, y FROM people"}, Delta: "1e-5", Model: TrainedModel{Kind: LogisticModel},
		Clip: "1", Rate: "1", Multiplier: "10", Steps: 12, Rows: 3000,
	}
}

// train takes steps until it has so many, and gives the parameters and the sums that led there.
func train(t testing.TB, tr *Trainer, to int64) (theta []float64, sums []string) {
	t.Helper()
	theta = make([]float64, tr.Parameters)
	for tr.Done() < to {
		g, err := tr.Step(t.Context(), theta)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, fmt.Sprint(g.Values))
		for i, m := range g.Mean {
			theta[i] -= 4 * m
		}
	}
	return theta, sums
}

// A training is paid before its first step, in ρ = ε²/2 at its δ; learns; and is given again, step by step, by whoever asks for it, at no
// cost: midway and at its end.
func TestTrain(t *testing.T) {
	home := fitHome(t, trainBudget, "add-remove", 3000)
	c := openHome(t, home)
	q := logisticTraining()
	q.Rate, q.Multiplier = "1/10", "4"
	if e, err := c.ExplainTrain(t.Context(), q); err != nil || e.Begun || e.Parameters != 3 || e.Expected != 300 {
		t.Fatalf("%+v, %v", e, err)
	}
	tr, err := c.Train(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	before, err := c.Budget()
	if err != nil || before.Spent.Rho == "0" || tr.Parameters != 3 || tr.Expected != 300 {
		t.Fatalf("%+v, %+v, %v", before.Spent, tr, err)
	}
	_, half := train(t, tr, 5)
	if _, err := openHome(t, home).Train(t.Context(), q); codeOf(err) != CodeHome {
		t.Errorf("two at a time: %v", err)
	}
	if e, err := c.ExplainTrain(t.Context(), q); err != nil || !e.Begun || e.Recorded != 5 || e.Price != tr.Price {
		t.Errorf("%+v, %v", e, err)
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Step(t.Context(), make([]float64, 3)); codeOf(err) != CodeUsage {
		t.Errorf("after its end: %v", err)
	}
	again, err := openHome(t, home).Train(t.Context(), q)
	if err != nil || again.ID != tr.ID || again.Recorded() != 5 {
		t.Fatalf("%+v, %v", again, err)
	}
	if _, err := again.Step(t.Context(), []float64{1, 1, 1}); codeOf(err) != CodeUsage || !errors.Is(err, ErrOtherStep) {
		t.Errorf("at other parameters: %v", err)
	}
	theta, all := train(t, again, 12)
	if strings.Join(all[:5], "") != strings.Join(half, "") {
		t.Errorf("steps were drawn again:\n%v\n%v", half, all[:5])
	}
	if _, err := again.Step(t.Context(), theta); codeOf(err) != CodeUsage {
		t.Errorf("beyond its end: %v", err)
	}
	if !(theta[0] > 0.5 && theta[1] < -0.2) { // towards (2, −1, .5); the noise's σ is 4/300 a step, 4·√12 times that in all: .18
		t.Errorf("learned %v", theta)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := c.Train(t.Context(), q)
	if err != nil || whole.Recorded() != 12 {
		t.Fatal(err)
	}
	if _, last := train(t, whole, 12); strings.Join(last, "") != strings.Join(all, "") {
		t.Error("a whole training is another one when it is given again")
	}
	if after, err := c.Budget(); err != nil || after.Spent != before.Spent {
		t.Errorf("spent %+v, and then %+v, %v", before.Spent, after.Spent, err)
	}
	q.Fresh = true
	fresh, err := c.Train(t.Context(), q)
	if err != nil || fresh.ID == whole.ID || fresh.Recorded() != 0 {
		t.Fatalf("%+v, %v", fresh, err)
	}
	if after, err := c.Budget(); err != nil || after.Spent == before.Spent {
		t.Error("a fresh one is free", err)
	}
	info, err := os.Stat(filepath.Join(home, "training", tr.ID+".journal"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if left, err := filepath.Glob(filepath.Join(home, "tmp", "rows-*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// Every model is trained, by person too; and the least noise for a price is found. The published parameters for MNIST have the published ε.
func TestTrainModels(t *testing.T) {
	c := openHome(t, fitHome(t, trainBudget, "add-remove", 600))
	for _, of := range []struct {
		model      TrainedModel
		sql        string
		rate       string
		parameters int
	}{
		{TrainedModel{Kind: LinearModel}, "SELECT x1, 1, n FROM people", "1", 2},
		{TrainedModel{Kind: PoissonModel}, "SELECT x1, 1, n FROM people", "1", 2},
		{TrainedModel{Kind: SoftmaxModel, Classes: 3}, "SELECT x1, 1, LEAST(n, 2) FROM people", "1", 6},
		{TrainedModel{Kind: NetworkModel, Classes: 2, Hidden: 4, Activation: "relu"}, "SELECT x, 1, y FROM visits", "1", 22},
	} {
		tr, err := c.Train(t.Context(), Training{
			Request: Request{SQL: of.sql, Epsilon: "0.5"}, Delta: "1e-6", Model: of.model, Clip: "1", Rate: of.rate, Steps: 3, Rows: 600,
		})
		if err != nil {
			t.Fatal(of.model, err)
		}
		if e, _ := strconv.ParseFloat(tr.Price.Rho, 64); tr.Parameters != of.parameters || e < 0.124 || e > 0.1250001 {
			t.Errorf("%+v: %d parameters, %+v, multiplier %s", of.model, tr.Parameters, tr.Price, tr.Multiplier)
		}
		train(t, tr, 3)
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	}
	q := logisticTraining()
	q.Rate, q.Multiplier, q.Steps = "256/60000", "1.1", 14062
	tr, err := c.Train(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	rho, err := strconv.ParseFloat(tr.Price.Rho, 64)
	if epsilon := math.Sqrt(2 * rho); err != nil || math.Abs(epsilon-2.381686) > 2e-4 {
		t.Errorf("ε = %g", epsilon)
	}
}

// What makes no sense is refused before anything is charged; and a budget that is an ε alone, or of neighbours by changing one, has no such price.
func TestTrainRefuses(t *testing.T) {
	c := openHome(t, fitHome(t, trainBudget, "add-remove", 20))
	for says, change := range map[string]func(q *Training){
		"1 to 1000000 steps":     func(q *Training) { q.Steps = 0 },
		"1 to 1000000 steps ":    func(q *Training) { q.Steps = 1_000_001 },
		"the clip":               func(q *Training) { q.Clip = "" },
		"the sampling rate":      func(q *Training) { q.Rate = "1.5" },
		"the sampling rate must": func(q *Training) { q.Rate = "0" },
		"the multiplier":         func(q *Training) { q.Multiplier = "-1" },
		"each follows from":      func(q *Training) { q.Epsilon = "1" },
		"is an ε at a δ":         func(q *Training) { q.Rho = "0.1" },
		"above the policy's max": func(q *Training) { q.Multiplier, q.Rate = "0.6", "1" },
		"units is missing":       func(q *Training) { q.Rows = 0 },
		"not \"forest\"":         func(q *Training) { q.Model.Kind = "forest" },
		"at least 2 classes":     func(q *Training) { q.Model.Kind = SoftmaxModel },
		"at least 1 hidden unit": func(q *Training) { q.Model = TrainedModel{Kind: NetworkModel, Classes: 2} },
		"at least one predictor": func(q *Training) { q.SQL = "SELECT y FROM people" },
		"without groups":         func(q *Training) { q.SQL += " GROUP BY x1" },
		"a delta":                func(q *Training) { q.Delta = "0" },
	} {
		q := logisticTraining()
		change(&q)
		if _, err := c.Train(t.Context(), q); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(says)) {
			t.Errorf("%v, want a refusal about %q", err, says)
		}
	}
	if b, err := c.Budget(); err != nil || b.Spent.Rho != "0" {
		t.Errorf("refusals cost %+v, %v", b.Spent, err)
	}
	for says, terms := range map[string][2]string{"a pure ε": {"{epsilon: 1}", "add-remove"}, "reserves no δ": {"{epsilon: 40, delta: 1e-6}", "add-remove"}, "add-remove neighbours": {trainBudget, "change-one"}} {
		c := openHome(t, fitHome(t, terms[0], terms[1], 20))
		if _, err := c.Train(t.Context(), logisticTraining()); codeOf(err) != CodePolicy || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want a refusal about %q", err, says)
		}
	}
}

// Parameters that are no numbers, or of another length, are refused, and leave the training as it was; as does a ctx that ends. Tables without rows are trained on.
func TestTrainSteps(t *testing.T) {
	c := openHome(t, fitHome(t, trainBudget, "add-remove", 20))
	q := logisticTraining()
	q.SQL += " WHERE x1 > 1"
	tr, err := c.Train(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, theta := range [][]float64{nil, {0, 0}, {0, 0, math.NaN()}, {0, 0, math.Inf(-1)}} {
		if _, err := tr.Step(t.Context(), theta); codeOf(err) != CodeUsage {
			t.Errorf("%v: %v", theta, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	var given *Error
	if _, err := tr.Step(cancelled, make([]float64, 3)); !errors.As(err, &given) || given.Code != CodeCancelled || !given.Charged || !given.Retry {
		t.Errorf("cancelled: %+v", err)
	}
	train(t, tr, 12)
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	q.Fresh = true
	if tr, err = c.Train(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	works := *inside(c).Engine
	*inside(c).Engine = failing{}
	var e *Error
	if _, err := tr.Step(t.Context(), make([]float64, 3)); !errors.As(err, &e) || e.Code != CodeFailed || !e.Charged {
		t.Errorf("a failure: %v", err)
	}
	*inside(c).Engine = works
	q.Fresh = false
	other, err := c.Train(t.Context(), q)
	if err != nil || other.Recorded() != 12 { // the failed one is none: that before it is given
		t.Errorf("%+v, %v", other, err)
	}
}

// A journal that is cut, edited, or longer than the ledger knows of is refused, but for what a crash may leave: one whole record more, which
// was never told and counts, and a part of one, which does not.
func TestJournalMatchesLedger(t *testing.T) {
	home := fitHome(t, trainBudget, "add-remove", 100)
	q := logisticTraining()
	c := openHome(t, home)
	tr, err := c.Train(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	_, sums := train(t, tr, 4)
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(home, "training", tr.ID+".journal")
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	edited := append([]byte(nil), good...)
	edited[len(edited)/2] ^= 1
	digests := insideTraining(tr).Digests()
	for i := range 40 { // any one bit, anywhere
		b := append([]byte(nil), good...)
		b[i*(len(b)-1)/39] ^= 1 << (i % 8)
		write(t, home, filepath.Join("training", tr.ID+".journal"), string(b))
		if _, err := insideTraining(tr).Matched(home, digests, false); !errors.Is(err, release.ErrJournal) {
			t.Errorf("a bit of byte %d: %v", i*(len(b)-1)/39, err)
		}
	}
	for what, b := range map[string][]byte{"cut": good[:len(good)-1], "empty": nil, "edited": edited, "another": append([]byte{9}, good...)} {
		write(t, home, filepath.Join("training", tr.ID+".journal"), string(b))
		if _, err := c.Train(t.Context(), q); !errors.Is(err, release.ErrJournal) {
			t.Errorf("%s: %v", what, err)
		}
		if left, _ := os.ReadFile(name); string(left) != string(b) {
			t.Errorf("%s: it was changed", what)
		}
	}
	write(t, home, filepath.Join("training", tr.ID+".journal"), string(good)+"\x40\x00\x00\x00torn")
	again, err := c.Train(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadFile(name); string(left) != string(good) {
		t.Error("what was torn is left")
	}
	if _, same := train(t, again, 4); strings.Join(same, "") != strings.Join(sums, "") {
		t.Error("other steps")
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	for known, ok := range []bool{false, false, false, true, true} { // as if the ledger lacked the last ones
		if n, err := insideTraining(again).Matched(home, digests[:known], false); (err == nil) != ok || ok && n != 4 || !ok && !errors.Is(err, release.ErrJournal) {
			t.Errorf("four steps, of which the ledger has %d: %d, %v", known, n, err)
		}
	}
	if _, err := insideTraining(again).Matched(home, digests[:3], true); !errors.Is(err, release.ErrJournal) {
		t.Errorf("a step more than a training that ended: %v", err)
	}
	if left, _ := os.ReadFile(name); string(left) != string(good) {
		t.Error("told steps were cut off")
	}
}

// Steps that another process takes, between the reading of the ledger and the taking of the journal, are given, and not cut off and drawn again.
func TestTrainMeetsAnother(t *testing.T) {
	defer func(f func(string)) { *inside(nil).CrashPoint = f }(*inside(nil).CrashPoint)
	home := fitHome(t, trainBudget, "add-remove", 100)
	c, other := openHome(t, home), openHome(t, home)
	first, err := c.Train(t.Context(), logisticTraining())
	if err != nil {
		t.Fatal(err)
	}
	train(t, first, 1)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	var sums []string
	*inside(nil).CrashPoint = func(point string) {
		if point != "reserved" {
			return
		}
		*inside(nil).CrashPoint = func(string) {}
		meanwhile, err := other.Train(t.Context(), logisticTraining())
		if err != nil {
			t.Fatal(err)
		}
		_, sums = train(t, meanwhile, 5)
		if err := meanwhile.Close(); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := c.Train(t.Context(), logisticTraining())
	if err != nil {
		t.Fatal(err)
	}
	if tr.Recorded() != 5 {
		t.Errorf("%d steps are recorded, and 5 were told", tr.Recorded())
	}
	if _, same := train(t, tr, 12); len(sums) != 5 || strings.Join(same[:5], "") != strings.Join(sums, "") {
		t.Errorf("told %v, and then %v", sums, same)
	}
}

// meanwhile does something before a rehearsal.
type meanwhile struct {
	engine.Engine
	do func()
}

func (m meanwhile) Rehearse(ctx context.Context, b *bounded.Statement, from engine.Sealed) error {
	m.do()
	return m.Engine.Rehearse(ctx, b, from)
}

// A training that another process begins, after this one found none, is gone on with, and not paid again.
func TestTrainBegunByAnother(t *testing.T) {
	home := fitHome(t, trainBudget, "add-remove", 100)
	c, other := openHome(t, home), openHome(t, home)
	var sums []string
	*inside(c).Engine = meanwhile{*inside(c).Engine, func() {
		tr, err := other.Train(t.Context(), logisticTraining())
		if err != nil {
			t.Fatal(err)
		}
		_, sums = train(t, tr, 2)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
	}}
	tr, err := c.Train(t.Context(), logisticTraining())
	if err != nil || tr.Recorded() != 2 {
		t.Fatalf("%+v, %v", tr, err)
	}
	if _, same := train(t, tr, 2); strings.Join(same, "") != strings.Join(sums, "") {
		t.Errorf("told %v, and then %v", sums, same)
	}
}

// The journal of another training, in whose place this one came when the ledger was set back or in another home, is none of it.
func TestJournalOfAnother(t *testing.T) {
	home, second := fitHome(t, trainBudget, "add-remove", 100), fitHome(t, trainBudget, "add-remove", 100)
	tr, err := openHome(t, home).Train(t.Context(), logisticTraining())
	if err != nil {
		t.Fatal(err)
	}
	train(t, tr, 1)
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	stranger, err := os.ReadFile(filepath.Join(home, "training", tr.ID+".journal"))
	if err != nil {
		t.Fatal(err)
	}
	c := openHome(t, second)
	if tr, err = c.Train(t.Context(), logisticTraining()); err != nil {
		t.Fatal(err)
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, second, filepath.Join("training", tr.ID+".journal"), string(stranger))
	if again, err := c.Train(t.Context(), logisticTraining()); err == nil && again.Recorded() > 0 {
		t.Error("a step of another home's training was taken for one of this")
	}
}

// TestTrainKilled kills the process at each point between two durable acts of a training, at its first steps, and then goes on elsewhere: what was told
// is given again, the training is paid once, and no step is told twice with two different sums.
func TestTrainKilled(t *testing.T) {
	if home := os.Getenv("DITHER_TRAIN_HOME"); home != "" {
		trainUntilKilled(t, home)
		return
	}
	for _, at := range []string{"reserved", "drawn", "journalled", "recorded"} {
		for _, n := range []int{1, 3} {
			if at == "reserved" && n > 1 {
				continue
			}
			home := fitHome(t, trainBudget, "add-remove", 100)
			child := exec.Command(os.Args[0], "-test.run", "^TestTrainKilled$", "-test.v")
			child.Env = append(os.Environ(), "DITHER_TRAIN_HOME="+home, fmt.Sprintf("DITHER_TRAIN_CRASH=%s %d", at, n))
			out, err := child.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("%s %d: it was not killed: %v\n%s", at, n, err, out)
			}
			var told []string
			for line := range strings.Lines(string(out)) {
				if sum, ok := strings.CutPrefix(strings.TrimSpace(line), "told "); ok {
					told = append(told, sum)
				}
			}
			c := openHome(t, home)
			before, err := c.Budget()
			if err != nil {
				t.Fatal(err)
			}
			tr, err := c.Train(t.Context(), logisticTraining())
			if err != nil {
				t.Fatal(at, n, err)
			}
			want := map[string]int64{"reserved": 0, "drawn": int64(n) - 1, "journalled": int64(n), "recorded": int64(n)}[at]
			if tr.Recorded() != want {
				t.Errorf("killed when the %d-th step was %s: %d were recorded, want %d", n, at, tr.Recorded(), want)
			}
			_, sums := train(t, tr, 12)
			if len(told) > len(sums) || strings.Join(told, "") != strings.Join(sums[:len(told)], "") {
				t.Errorf("%s %d: told %v, and then %v", at, n, told, sums)
			}
			if after, err := c.Budget(); err != nil || after.Spent != before.Spent {
				t.Errorf("%s %d: paid again: %v, %v, %v", at, n, before.Spent, after.Spent, err)
			}
			reserved := 0
			if err := c.ledger.Entries(func(e ledger.Entry) error {
				if e.Kind == ledger.KindReserve {
					reserved++
				}
				return nil
			}); err != nil || reserved != 1 {
				t.Errorf("%s %d: %d reservations, %v", at, n, reserved, err)
			}
		}
	}
}

// trainUntilKilled trains, telling what it is told, until it kills itself.
func trainUntilKilled(t *testing.T, home string) {
	at, count, _ := strings.Cut(os.Getenv("DITHER_TRAIN_CRASH"), " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		t.Fatal(err)
	}
	*inside(nil).CrashPoint = func(point string) {
		if point == at {
			if n--; n == 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
	tr, err := openHome(t, home).Train(t.Context(), logisticTraining())
	if err != nil {
		t.Fatal(err)
	}
	theta := make([]float64, tr.Parameters)
	for tr.Done() < tr.Steps {
		g, err := tr.Step(t.Context(), theta)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("told", g.Values)
		for i, m := range g.Mean {
			theta[i] -= 4 * m
		}
	}
}

// A step that is durable in the journal alone, as a killed process leaves it, and that the ledger cannot take for now,
// keeps nobody from the steps before it: where the home is read-only, or whoever paid is suspended. It is told later.
func TestDurableStepWaits(t *testing.T) {
	home, q, id := begunTraining(t)
	c := openHome(t, home)
	tr := must[*Trainer](t)(c.Train(t.Context(), q))
	theta, sums := train(t, tr, 3)
	step := []*big.Int{big.NewInt(1), big.NewInt(-2), big.NewInt(3)}
	must[struct{}](t)(struct{}{}, insideTraining(tr).Append(theta, step))
	must[struct{}](t)(struct{}{}, tr.Close())
	for range ledger.MaxGivenUp {
		must[struct{}](t)(struct{}{}, inside(c).Ledger.GiveUpStep(tr.training.ID(), ""))
	}
	waits := func(t *testing.T, want Code) {
		t.Helper()
		c := openHome(t, home)
		*inside(c).Engine = failing{} // which nobody asks
		tr, err := c.Train(t.Context(), q)
		if err != nil || tr.ID != id || tr.Recorded() != 3 {
			t.Fatalf("%+v, %v", tr, err)
		}
		theta, same := train(t, tr, 3)
		if strings.Join(same, "") != strings.Join(sums, "") {
			t.Error("other steps")
		}
		var e *Error
		if _, err := tr.Step(t.Context(), theta); !errors.As(err, &e) || e.Code != want || !e.Charged {
			t.Errorf("the step that waits: %+v", err)
		}
		must[struct{}](t)(struct{}{}, errors.Join(tr.Close(), c.Close()))
	}
	waits(t, CodeSuspended)
	must[struct{}](t)(struct{}{}, c.ledger.Resume())
	t.Run("read-only", func(t *testing.T) {
		f := must[*os.File](t)(os.OpenFile(filepath.Join(home, "training", id+".journal"), os.O_WRONLY|os.O_APPEND, 0))
		must[int](t)(f.WriteString("\x40\x00\x00\x00torn")) // of one more, likewise
		must[struct{}](t)(struct{}{}, f.Close())
		readOnly(t, home)
		waits(t, CodeHome)
	})
	tr, err := openHome(t, home).Train(t.Context(), q)
	if err != nil || tr.ID != id || tr.Recorded() != 4 {
		t.Fatalf("%+v, %v", tr, err)
	}
	if theta, _ = train(t, tr, 3); tr.Done() != 3 {
		t.Error(tr.Done())
	}
	if g, err := tr.Step(t.Context(), theta); err != nil || fmt.Sprint(g.Values) != fmt.Sprint(step) {
		t.Errorf("%+v, %v", g, err)
	}
	train(t, tr, 4)
}
