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

// adoptHarmless adopts the policy file where it is the first, while nothing has been spent, or where it changes nothing
// that the budget rests on and loses no unfinished training.
func (c *Session) adoptHarmless() error {
	for {
		err := c.adoptOnce()
		if errors.Is(err, ledger.ErrReadOnly) {
			return nil // inForce says it when a question is asked
		}
		// Another process may adopt at the same moment: then there is something new to compare with.
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
		return nil //nolint:nilerr // inForce says it when a question is asked
	}
	trainings, err := c.kernel.Pinned(s)
	if err != nil {
		return err
	}
	if held := wouldLose("the changed policy file", trainings, finishFirst); held != nil {
		c.held.Store(held) // inForce says it when a question is asked
		return nil
	}
	return c.ledger.Adopt(terms(c.policy, s.Terms), 1, s.Head)
}

// unspent says that nothing was charged yet, by an opening neither: there is nothing to read again.
func unspent(s ledger.State) bool { return s.Reservations == 0 && s.Torn == 0 && s.Spent.IsZero() }

// PolicyChange lists the effects of accepting the policy file.
type PolicyChange struct {
	Changes []string
	// every loss so far counts, under the new terms, as what it promised so many together: that many times ε, or
	// its square times ρ
	Group  int64
	Spent  Loss // what is spent then
	Budget Loss
	// tables whose declaration changed since they were sealed: questions about them wait for the next sealing
	Stale []string
	// Abandoned are the unfinished trainings that the change gives up, by name. Their prices stay spent.
	Abandoned []string
}

// AcceptOptions change what AcceptPolicyWith does.
type AcceptOptions struct {
	Dry     bool // say what would change, and change nothing
	Abandon bool // accept a change that loses unfinished trainings: it gives them up
}

// finishFirst is what an owner does about a change of the policy that would lose a training.
const finishFirst = "put the policy in force back and finish it; or give it up by `dither policy accept --abandon`: its price stays spent"

// AcceptPolicy is the owner's act of putting a changed policy file in force: the population, its neighbours, units, sources
// or budget. Losses recorded before are read again under the new terms, or the change is refused. With dry set it only
// says what would change.
//
// A change from rows to persons rests on how many rows a person has: then every version that was ever sealed is read.
func (c *Owner) AcceptPolicy(ctx context.Context, dry bool) (*PolicyChange, error) {
	return c.AcceptPolicyWith(ctx, AcceptOptions{Dry: dry})
}

// AcceptPolicyWith is AcceptPolicy with options.
func (c *Owner) AcceptPolicyWith(ctx context.Context, o AcceptOptions) (*PolicyChange, error) {
	file, err := policy.Load(filepath.Join(c.home, policy.FileName))
	if err != nil {
		return nil, homeError(err)
	}
	if file.Digest() != c.policy.Digest() { // what the owner accepts is what they see
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
			Hint: "raise the budget knowingly, or go back to the policy in force",
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
	if o.Dry { // what the ledger would refuse, it refuses now
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

// inForce refuses where the ledger holds other terms than the policy file.
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
	if len(changes) == 0 { // Open would have adopted it: the file was accepted, or changed, since
		return &Error{
			Code: CodePolicyChanged, Message: "the policy in force is another one than was read here",
			Hint: "open the curator again, where the home can be written",
		}
	}
	return &Error{
		Code:    CodePolicyChanged,
		Message: fmt.Sprintf("the policy file is not the one in force: %s", strings.Join(changes, "; ")),
		Hint:    "the owner runs `dither policy accept`",
	}
}

// terms are what the ledger records of a policy that takes over from the terms in force: tables that it no longer has are
// remembered with their units, so that none comes back as something else.
func terms(p *policy.Policy, old ledger.Terms) ledger.Terms {
	t := p.Terms().After(recorded(old))
	return sharesOf(t, ledger.Terms{
		Digest: p.Digest(), Population: t.Population, Neighbours: t.Neighbours,
		Budget: t.Budget, MaxPrice: t.Maximum, Units: t.Units, Sources: t.Sources,
		Held:    t.Held,
		Removed: t.Removed,
	})
}

// recorded are the terms in force, as the policy package compares them.
func recorded(t ledger.Terms) policy.Terms {
	return recordedShares(t, policy.Terms{
		Population: t.Population, Neighbours: t.Neighbours, Budget: t.Budget, Maximum: t.MaxPrice, Units: t.Units,
		Sources: t.Sources, Held: t.Held, Removed: t.Removed,
	})
}

// change compares the policy file with the terms in force: what changes, and the group that past losses count for.
func (c *Session) change(s ledger.State, checked ...policy.Check) ([]string, int64, error) {
	group, changes, err := policy.Reread(recorded(s.Terms), c.policy.Terms(), checked...)
	if err != nil {
		return nil, 0, &Error{
			Code: CodePolicy, Message: err.Error(), cause: err,
			Hint: "go back to the policy in force, or begin a new home for a new population",
		}
	}
	return changes, group, nil
}

// checkedChange is change, with every fact about sealed rows that it rests on looked up.
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
				Code: CodeSource, Message: fmt.Sprintf("%v; the sealed versions hold %d rows of one", err, found),
				Hint: fmt.Sprintf("declare rows_per_unit: %d or more", found), cause: err,
			}
		}
		need.Rows = found
		checked = append(checked, need)
	}
}

// mostRows is the most rows that one value of a column has in any version of a table that the ledger recorded.
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
			return fmt.Errorf("version %d of table %s was of a live table, and what it held then is not kept", v.Number, v.Table)
		}
		n, err := sealer.MostRows(ctx, v.File, of.Column, of.Type)
		most = max(most, n)
		return err
	})
	return most, err
}

// reread is what a sum of losses comes to for a group of so many, at most, as the new budget's accountant counts. (The ledger
// reads each loss by itself: pure losses that become zCDP then add up to less.)
func reread(spent, budget privacy.Loss, group int64) (privacy.Loss, error) {
	if group > 1 {
		var err error
		if spent, err = spent.Group(group); err != nil {
			return spent, err
		}
	}
	return spent.In(budget.Accountant())
}
