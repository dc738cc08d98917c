package curator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dither/internal/ledger"
	"dither/internal/release"
	"dither/privacy"
)

// begunTraining is a home with a training that has three of its twelve steps, given back.
func begunTraining(t *testing.T) (home string, q Training, id string) {
	t.Helper()
	home = fitHome(t, trainBudget, "add-remove", 60)
	c := openHome(t, home)
	q = logisticTraining()
	tr, err := c.Train(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	train(t, tr, 3)
	if err := errors.Join(tr.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	return home, q, tr.ID
}

func edit(t *testing.T, home, file, from, to string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, file))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), from) {
		t.Fatalf("%s has no %q", file, from)
	}
	write(t, home, file, strings.Replace(string(text), from, to, 1))
}

// resumes checks that a training goes on where it was, and is not paid again.
func resumes(t *testing.T, c *Owner, q Training, id string) {
	t.Helper()
	before, err := c.Budget()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := c.Train(t.Context(), q)
	if err != nil || tr.ID != id || tr.Recorded() < 3 {
		t.Fatalf("%+v, %v", tr, err)
	}
	train(t, tr, tr.Recorded())
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err := c.Budget(); err != nil || after.Spent != before.Spent {
		t.Errorf("spent %v, and then %v, %v", before.Spent, after.Spent, err)
	}
}

// An edit of the policy file that needs no acceptance, an acceptance and a new sealed version are refused while they would lose a training that is
// paid and unfinished, and nothing is paid meanwhile. Undone, the training goes on.
func TestUnfinishedTrainingsPin(t *testing.T) {
	home, q, id := begunTraining(t)
	for name, change := range map[string][2]string{
		"expected_rows": {"    unit: row\n", "    unit: row\n    expected_rows: 1001\n"},
		"bounds":        {"y: {type: integer, bounds: [0, 1]}", "y: {type: integer, bounds: [0, 2]}"},
		"default price": {"default: 0.1", "default: 0.2"},
		"maximum price": {"maximum: 3", "maximum: 2"},
	} {
		edit(t, home, "policy.yaml", change[0], change[1])
		c := openHome(t, home)
		if _, err := c.Train(t.Context(), q); codeOf(err) != CodeUnfinished && (name != "maximum price" || codeOf(err) != CodePolicyChanged) {
			t.Errorf("%s: the training: %v", name, err)
		}
		if _, err := c.AcceptPolicy(t.Context(), false); codeOf(err) != CodeUnfinished || !strings.Contains(err.Error(), id+" (3 steps recorded)") {
			t.Errorf("%s: accepting: %v", name, err)
		}
		if lines, err := CheckPolicy(home); err != nil || !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, id) && strings.Contains(l, "--abandon") }) {
			t.Errorf("%s: check says %q, %v", name, lines, err)
		}
		edit(t, home, "policy.yaml", change[1], change[0])
		resumes(t, openHome(t, home), q, id)
	}
	c := openHome(t, home)
	if r, err := c.Seal(t.Context(), "people", SealOptions{}); err != nil || !r.Unchanged {
		t.Errorf("sealing what did not change: %+v, %v", r, err)
	}
	if _, err := c.Seal(t.Context(), "visits", SealOptions{}); err != nil {
		t.Errorf("sealing another table: %v", err)
	}
	edit(t, home, "people.csv", "1,,1,20\n", "1,,1,20\n0,0,1,3\n")
	if _, err := c.Seal(t.Context(), "people", SealOptions{}); codeOf(err) != CodeUnfinished || !strings.Contains(err.Error(), id) {
		t.Errorf("sealing: %v", err)
	}
	resumes(t, c, q, id)
	tr, err := c.Train(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	train(t, tr, 12)
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Seal(t.Context(), "people", SealOptions{}); err != nil || r.Version != 2 { // what is finished keeps nothing
		t.Errorf("sealing: %+v, %v", r, err)
	}
}

// The owner may give an unfinished training up. Its analyst then does not pay for another one by asking for it as before, but only by asking afresh.
func TestAbandonedTrainings(t *testing.T) {
	abandon := map[string]func(t *testing.T, home string){
		"policy": func(t *testing.T, home string) {
			edit(t, home, "policy.yaml", "    unit: row\n", "    unit: row\n    expected_rows: 1001\n")
			change, err := openHome(t, home).AcceptPolicyWith(t.Context(), AcceptOptions{Abandon: true})
			if err != nil || len(change.Abandoned) != 1 {
				t.Fatalf("%+v, %v", change, err)
			}
		},
		"seal": func(t *testing.T, home string) {
			edit(t, home, "people.csv", "1,,1,20\n", "1,,1,20\n0,0,1,3\n")
			r, err := openHome(t, home).Seal(t.Context(), "people", SealOptions{Abandon: true})
			if err != nil || r.Version != 2 || !strings.Contains(r.Text, "abandoned") {
				t.Fatalf("%+v, %v", r, err)
			}
		},
	}
	for name, give := range abandon {
		t.Run(name, func(t *testing.T) {
			home, q, id := begunTraining(t)
			give(t, home)
			c := openHome(t, home)
			before, err := c.Budget()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Train(t.Context(), q); codeOf(err) != CodeUnfinished || !strings.Contains(err.Error(), id) {
				t.Errorf("asked for as before: %v", err)
			}
			if _, err := c.ExplainTrain(t.Context(), q); codeOf(err) != CodeUnfinished {
				t.Errorf("explained: %v", err)
			}
			if after, err := c.Budget(); err != nil || after.Spent != before.Spent {
				t.Errorf("spent %v, and then %v, %v", before.Spent, after.Spent, err)
			}
			if before.GivenUp != nil { // it was not its analyst's doing
				t.Errorf("it counts towards a suspension: %+v", before.GivenUp)
			}
			q.Fresh = true
			tr, err := c.Train(t.Context(), q)
			if err != nil || tr.ID == id || tr.Recorded() != 0 {
				t.Fatalf("afresh: %+v, %v", tr, err)
			}
			train(t, tr, 3)
			if err := tr.Close(); err != nil {
				t.Fatal(err)
			}
			q.Fresh = false
			resumes(t, c, q, tr.ID)
			if list, err := pinnedOf(c); err != nil || len(list) != 1 || "r"+strings.TrimPrefix(tr.ID, "r") != namesOf(list)[0] {
				t.Errorf("kept: %v, %v", list, err) // what was given up keeps nothing any more
			}
		})
	}
}

func pinnedOf(c *Owner) ([]release.UnfinishedTraining, error) {
	s, err := c.ledger.State()
	if err != nil {
		return nil, err
	}
	return c.kernel.Pinned(s)
}

// A training that is planned while its table is sealed again is not paid: nobody would find it under its key.
func TestTrainSealedMeanwhile(t *testing.T) {
	home := fitHome(t, trainBudget, "add-remove", 60)
	c := openHome(t, home)
	tr, err := c.training(t.Context(), logisticTraining())
	if err != nil {
		t.Fatal(err)
	}
	edit(t, home, "people.csv", "1,,1,20\n", "1,,1,20\n0,0,1,3\n")
	if _, err := openHome(t, home).Seal(t.Context(), "people", SealOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := insideTraining(tr).Reserve(false); codeOf(c.public(err)) != CodeStale {
		t.Errorf("reserved: %v", err)
	}
	if b, err := c.Budget(); err != nil || b.Spent.Rho != "0" {
		t.Errorf("%+v, %v", b, err)
	}
}

// Train and ExplainTrain read no entries of the ledger but reservations without a release and those since a training
// that they find: here an older one is unreadable.
func TestTrainReadsNoOtherEntries(t *testing.T) {
	home := fitHome(t, trainBudget, "add-remove", 60)
	c := openHome(t, home)
	const question = "SELECT COUNT(*) FROM people"
	if _, err := c.Answer(t.Context(), Question{SQL: question}); err != nil {
		t.Fatal(err)
	}
	q, other := logisticTraining(), logisticTraining()
	other.Steps++
	tr := must[*Trainer](t)(c.Train(t.Context(), q))
	_, sums := train(t, tr, 3)
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	c = openHome(t, home)
	log := filepath.Join(home, "ledger.log")
	text := string(must[[]byte](t)(os.ReadFile(log)))
	at := strings.Index(text, `"question":"`+question)
	if at < 0 {
		t.Fatal(text)
	}
	f := must[*os.File](t)(os.OpenFile(log, os.O_WRONLY, 0))
	defer f.Close()
	must[int](t)(f.WriteAt([]byte("x"), int64(at+len(`"question":"`))))
	if err := c.ledger.Entries(func(ledger.Entry) error { return nil }); err == nil {
		t.Fatal("the entry is readable")
	}
	for range 2 {
		if e := must[*TrainingExplanation](t)(c.ExplainTrain(t.Context(), q)); !e.Begun || e.Recorded != 3 {
			t.Errorf("%+v", e)
		}
		if e := must[*TrainingExplanation](t)(c.ExplainTrain(t.Context(), other)); e.Begun || e.Recorded != 0 {
			t.Errorf("%+v", e)
		}
	}
	again := must[*Trainer](t)(c.Train(t.Context(), q))
	if _, same := train(t, again, 12); again.ID != tr.ID || strings.Join(same[:3], "") != strings.Join(sums, "") {
		t.Error("other steps")
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if e := must[*TrainingExplanation](t)(c.ExplainTrain(t.Context(), q)); !e.Begun || e.Recorded != 12 {
		t.Errorf("%+v", e)
	}
	second := must[*Trainer](t)(c.Train(t.Context(), other))
	if err := second.Close(); err != nil || second.ID == tr.ID {
		t.Errorf("%s, %v", second.ID, err)
	}
}

// What several unfinished trainings have by now is read once for all of them, and not once for each.
func TestUnfinishedAreCountedTogether(t *testing.T) {
	c := openHome(t, fitHome(t, trainBudget, "add-remove", 20))
	const trainings, steps = 20, 100
	r := ledger.Reservation{
		Policy: c.policy.Digest(), Loss: privacy.ZCDPLoss(must[privacy.Rho](t)(privacy.ParseRho("0.0001")), privacy.Delta{}),
		Mechanisms: []ledger.Mechanism{{Name: SubsampledGaussian + ", rate 1, 999 steps", Sensitivity: "1", Scale: "1", Cells: 1}},
		Sources:    []ledger.Source{{Table: "people", Version: 1}},
	}
	var ids []uint64
	for i := range trainings {
		r.Key = fmt.Sprintf("%032x", i)
		ids = append(ids, must[uint64](t)(inside(c).Ledger.Reserve(r)))
	}
	values := fmt.Appendf(nil, `{"sha256":"01%062d"}`, 0)
	for i := range steps {
		must[struct{}](t)(struct{}{}, inside(c).Ledger.Step(ledger.Step{Reservation: ids[i%trainings], Values: values}))
	}
	must[struct{}](t)(struct{}{}, inside(c).Ledger.Abandon(ids[1]))
	must[struct{}](t)(struct{}{}, inside(c).Ledger.Release(ids[2], values))
	reading := func(n int) float64 {
		return testing.AllocsPerRun(1, func() {
			known := new(release.PaidTrainings)
			for range 2 { // the second time there is nothing new
				all := must[[]release.UnfinishedTraining](t)(known.Unfinished(inside(c).Ledger, func(ledger.Reservation) bool { return true }))
				must[struct{}](t)(struct{}{}, known.Counted(inside(c).Ledger, all[len(all)-n:]))
				for _, u := range all[len(all)-n:] {
					if u.Steps() != steps/trainings || u.GivenUp() != (u.ID() == ids[1]) || u.ID() == ids[2] {
						t.Fatalf("%+v", u)
					}
				}
			}
		})
	}
	if one, all := reading(1), reading(trainings-1); all > 2*one {
		t.Errorf("%d trainings take %g allocations, and one %g", trainings-1, all, one)
	}
}
