package curator

import "testing"

// A training whose policy was replaced while it went on says so, as a question does: its analyst opens the curator again.
func TestTrainPolicyReplacedMeanwhile(t *testing.T) {
	home := fitHome(t, trainBudget, "add-remove", 300)
	c := openHome(t, home)
	tr, err := c.Train(t.Context(), logisticTraining())
	if err != nil {
		t.Fatal(err)
	}
	train(t, tr, 1)
	edit(t, home, "policy.yaml", "    unit: row\n", "    unit: row\n    expected_rows: 1001\n")
	owner := openHome(t, home)
	if _, err := owner.AcceptPolicyWith(t.Context(), AcceptOptions{Abandon: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Step(t.Context(), make([]float64, 3)); codeOf(err) != CodePolicyChanged {
		t.Errorf("a step under a policy that is no longer in force: %v, %v", codeOf(err), err)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people"}); codeOf(err) != CodePolicyChanged {
		t.Errorf("a question: %v, %v", codeOf(err), err)
	}
}
