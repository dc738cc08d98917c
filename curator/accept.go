package curator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"dither/internal/ledger"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/sealing"
	"dither/privacy"
)

// adoptHarmless puts the policy file in force if no decision of the owner is needed. That is so for the first
// policy, and for any policy while nothing has been spent. Later it is so for a change that does not affect the
// privacy accounting, and that ends no unfinished training.
func (c *Session) adoptHarmless() error {
	for {
		err := c.adoptOnce()
		if errors.Is(err, ledger.ErrReadOnly) {
			return nil // inForce reports the difference when a question is asked
		}
		// Another process adopted a policy at the same time: compare with the new state.
		if !errors.Is(err, ledger.ErrStale) {
			return err
		}
	}
}

func (c *Session) adoptOnce() error {
	s, err := c.ledger.State()
	if err != nil {
		return err
	}
	if s.Adopted && s.Terms.Digest == c.policy.Digest() {
		return nil
	}
	if !s.Adopted || unspent(s) {
		return c.ledger.Adopt(terms(c.policy, ledger.Terms{}), 1, s.Head)
	}
	changes, group, err := c.change(s)
	if err != nil || len(changes) > 0 || group != 1 {
		return nil //nolint:nilerr // inForce reports it when a question is asked
	}
	trainings, err := c.kernel.Pinned(s)
	if err != nil {
		return err
	}
	if held := wouldLose("the changed policy file", trainings, finishFirst); held != nil {
		c.held.Store(held) // inForce reports the difference when a question is asked
		return nil
	}
	return c.ledger.Adopt(terms(c.policy, s.Terms), 1, s.Head)
}

// unspent reports whether nothing has been charged yet, not even for a damaged ledger entry. Then there are no past
// losses to convert to new terms.
func unspent(s ledger.State) bool { return s.Reservations == 0 && s.Torn == 0 && s.Spent.IsZero() }

// PolicyChange lists the effects of accepting the policy file.
type PolicyChange struct {
	Changes []string
	// The number of units that past losses count for under the new terms: each past loss is multiplied by Group in
	// ε, or by Group² in ρ.
	Group  int64
	Spent  Loss // what is spent under the new terms
	Budget Loss
	// tables whose declaration changed since they were sealed. Questions about them are refused until they are
	// sealed again
	Stale []string
	// Abandoned names the unfinished trainings that the change ends. Their prices stay spent.
	Abandoned []string
}

// AcceptOptions are the options of [Owner.AcceptPolicyWith].
type AcceptOptions struct {
	Dry     bool // report the effects, and change nothing
	Abandon bool // accept the change even if it ends unfinished trainings
}

// finishFirst is the hint for an owner whose change of the policy would lose a training.
const finishFirst = "restore the policy in force and finish the training, or abandon it with `dither policy accept " +
	"--abandon`; its price stays spent"

// AcceptPolicy puts a changed policy file in force. A change of the population, its neighbours, units, sources or
// budget needs this decision of the owner. Past losses are converted to the new terms; if that is impossible, the
// change is refused. With dry set, AcceptPolicy only reports the effects.
//
// A change of the unit from rows to persons depends on how many rows a person has. Then AcceptPolicy reads every
// version that was ever sealed.
func (c *Owner) AcceptPolicy(ctx context.Context, dry bool) (*PolicyChange, error) {
	return c.AcceptPolicyWith(ctx, AcceptOptions{Dry: dry})
}

// AcceptPolicyWith is AcceptPolicy with options.
func (c *Owner) AcceptPolicyWith(ctx context.Context, o AcceptOptions) (*PolicyChange, error) {
	file, err := policy.Load(filepath.Join(c.home, policy.FileName))
	if err != nil {
		return nil, homeError(err)
	}
	if file.Digest() != c.policy.Digest() { // the owner must accept the file that this process has read
		return nil, &Error{
			Code:    CodePolicyChanged,
			Message: "the policy file changed since it was read",
			Hint:    "open the curator again",
			Retry:   true,
		}
	}
	s, err := c.ledger.State()
	if err != nil {
		return nil, toOwner(err)
	}
	changes, group, err := c.checkedChange(ctx, s)
	if err != nil {
		return nil, err
	}
	spent, err := reread(s.Spent, c.policy.Budget.Loss, group)
	if err != nil {
		return nil, &Error{
			Code:    CodePolicy,
			Message: err.Error(),
			Hint:    "go back to the policy in force, or begin a new home",
			cause:   err,
		}
	}
	out := &PolicyChange{Changes: changes, Group: group, Spent: c.account(spent), Budget: c.declared(), Stale: c.stale()}
	if group > 1 && !spent.Within(c.policy.Budget.Loss) {
		return out, &Error{
			Code: CodePolicy,
			Hint: "raise the budget, or go back to the policy in force",
			Message: fmt.Sprintf(
				"under the new terms the answers given so far would have cost %v, more than the budget of %v",
				out.Spent,
				out.Budget,
			),
		}
	}
	if s.Terms.Digest == c.policy.Digest() {
		return out, nil
	}
	trainings, err := c.kernel.Pinned(s)
	if err != nil {
		return nil, toOwner(err)
	}
	if !o.Abandon {
		if err := wouldLose("this change of the policy", trainings, finishFirst); err != nil {
			return nil, err
		}
	}
	out.Abandoned = namesOf(trainings)
	if o.Dry { // a dry run returns the ledger's refusals too
		if err := c.ledger.MayAdopt(terms(c.policy, s.Terms), group); err != nil {
			return nil, toOwner(err)
		}
		return out, nil
	}
	if err := c.ledger.Adopt(terms(c.policy, s.Terms), group, s.Head); err != nil {
		return nil, toOwner(err)
	}
	c.held.Store(nil)
	if err := c.kernel.Abandon(trainings); err != nil {
		return nil, toOwner(err)
	}
	if s, err := c.ledger.State(); err == nil {
		out.Spent = c.account(s.Spent)
	}
	return out, nil
}

// inForce returns an error unless the policy file is the policy that the ledger has in force.
func (c *Session) inForce(s ledger.State) error {
	if s.Terms.Digest == c.policy.Digest() {
		return nil
	}
	changes, _, err := c.change(s)
	if err != nil {
		return err
	}
	if held := c.held.Load(); held != nil {
		return held
	}
	// Open adopts such a change. So the file was accepted, or changed, after this home was opened
	if len(changes) == 0 {
		return &Error{
			Code: CodePolicyChanged, Message: "the policy in force is not the one that was read here",
			Hint: "open the curator again, in a process that can write to the home",
		}
	}
	return &Error{
		Code:    CodePolicyChanged,
		Message: fmt.Sprintf("the policy file is not the one in force: %s", strings.Join(changes, "; ")),
		Hint:    "ask the owner to run `dither policy accept`",
	}
}

// terms returns the terms that the ledger records when policy p replaces the policy with the old terms. Tables that p
// no longer has stay in the terms with their units, so that no table of that name can return with another unit.
func terms(p *policy.Policy, old ledger.Terms) ledger.Terms {
	t := p.Terms().After(recorded(old))
	return sharesOf(t, ledger.Terms{
		Digest: p.Digest(), Population: t.Population, Neighbours: t.Neighbours,
		Budget: t.Budget, MaxPrice: t.Maximum, Units: t.Units, Sources: t.Sources,
		Held:    t.Held,
		Removed: t.Removed,
	})
}

// recorded returns the ledger's terms in the form that package policy compares.
func recorded(t ledger.Terms) policy.Terms {
	return recordedShares(t, policy.Terms{
		Population: t.Population, Neighbours: t.Neighbours, Budget: t.Budget, Maximum: t.MaxPrice, Units: t.Units,
		Sources: t.Sources, Held: t.Held, Removed: t.Removed,
	})
}

// change compares the policy file with the terms in force. It returns the changes in words, and a number k: one unit
// under the new terms is a group of at most k old units, so each past loss is charged as for a group of k
// ([policy.Reread] has the proof).
func (c *Session) change(s ledger.State, checked ...policy.Check) ([]string, int64, error) {
	old := recorded(s.Terms)
	group, changes, err := policy.Reread(old, c.policy.Terms(), checked...)
	if err == nil {
		err = c.policy.UnitsBeside(old)
	}
	if err != nil {
		return nil, 0, &Error{
			Code: CodePolicy, Message: err.Error(), cause: err,
			Hint: "go back to the policy in force, or begin a new home for a new population",
		}
	}
	return changes, group, nil
}

// checkedChange is change, but it also looks up every fact about sealed rows that the comparison depends on.
func (c *Session) checkedChange(ctx context.Context, s ledger.State) ([]string, int64, error) {
	var checked []policy.Check
	for {
		changes, group, err := c.change(s, checked...)
		var refused *policy.ChangeError
		if !errors.As(err, &refused) || refused.Missing == nil {
			return changes, group, err
		}
		need := *refused.Missing
		found, lookup := c.mostRows(ctx, need)
		if lookup != nil {
			return nil, 0, &Error{Code: CodeSource, Message: err.Error() + "; " + lookup.Error(), cause: lookup}
		}
		if found > need.Rows {
			return nil, 0, &Error{
				Code: CodeSource, Message: fmt.Sprintf("%v; in the sealed versions, one unit has %d rows", err, found),
				Hint: fmt.Sprintf("declare rows_per_unit: %d or more", found), cause: err,
			}
		}
		need.Rows = found
		checked = append(checked, need)
	}
}

// mostRows returns the largest number of rows that share one value of a column, over all recorded versions of the
// table.
func (c *Session) mostRows(ctx context.Context, of policy.Check) (most int64, err error) {
	sealer := sealing.Files(filepath.Join(c.home, "tmp"))
	err = c.ledger.Entries(func(e ledger.Entry) error {
		s, ok := e.Body.(ledger.Seal)
		if !ok || s.Table != of.Table {
			return nil
		}
		v, err := seal.Recorded(ctx, c.home, s.Table, s.Version, s.SHA256)
		if err != nil {
			return err
		}
		if v.Live {
			return fmt.Errorf("version %d of table %s referred to a live table, whose rows at that time are not "+
				"kept", v.Number, v.Table)
		}
		n, err := sealer.MostRows(ctx, v.File, of.Column, of.Type)
		most = max(most, n)
		return err
	})
	return most, err
}

// reread returns an upper bound on the spent loss, for a group of units, in the terms of the new budget's
// accountant. The ledger itself converts each loss separately. Pure losses that are converted to zCDP separately
// add up to less.
func reread(spent, budget privacy.Loss, group int64) (privacy.Loss, error) {
	if group > 1 {
		var err error
		if spent, err = spent.Group(group); err != nil {
			return spent, err
		}
	}
	return spent.In(budget.Accountant())
}
