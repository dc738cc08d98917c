package curator

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"

	"dither/internal/engine/duckdb"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// What follows is for the owner alone: no analyst's door may lead here.

// SealReport says what a sealing found, in exact counts: it is for the owner's eyes, and not private.
type SealReport struct {
	Table     string
	Version   int
	Unchanged bool   // nothing had changed, and no version was made
	Text      string // the whole report
}

// SealOptions change how a source is sealed.
type SealOptions struct {
	Shared   bool // seal although another home's budget covers the same source
	Progress func(rows, bytes, totalBytes int64)
}

// Seal makes a new version of a table from its source: decoded strictly against the policy's declaration, checked, and
// published under the next number. Questions read the newest version, and never the source. An *Error quotes no cell.
func (c *Curator) Seal(ctx context.Context, table string, options SealOptions) (*SealReport, error) {
	t := c.policy.Table(table)
	if t == nil {
		return nil, &Error{Code: CodeUsage, Message: "there is no table " + table + " in the policy"}
	}
	before, err := c.ledger.State()
	if err != nil {
		return nil, public(err)
	}
	if err := c.inForce(before); err != nil {
		return nil, public(err)
	}
	tmp := filepath.Join(c.home, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return nil, homeError(err)
	}
	o := seal.Options{LedgerID: before.ID, Shared: options.Shared, After: before.Sealed[table].Version}
	if options.Progress != nil {
		o.Progress = func(p seal.Progress) { options.Progress(p.Rows, p.Bytes, p.TotalBytes) }
	}
	version, report, err := seal.Seal(ctx, c.home, t, duckdb.NewSealer(tmp), o)
	if err != nil {
		return nil, &Error{Code: CodeSource, Message: err.Error(), cause: err}
	}
	if err := c.record(version); err != nil {
		return nil, public(err)
	}
	return &SealReport{Table: table, Version: version.Number, Unchanged: report.Unchanged, Text: report.String()}, nil
}

// record puts a published version into the ledger, unless another process, or an earlier run, has recorded it.
func (c *Curator) record(v seal.Version) error {
	s, err := c.ledger.State()
	if err != nil || s.Sealed[v.Table].Version >= v.Number {
		return err
	}
	err = c.ledger.Sealed(v.Table, v.Number, v.SHA256)
	if errors.Is(err, ledger.ErrInvalid) { // recorded by another process in between
		if s, again := c.ledger.State(); again == nil && s.Sealed[v.Table].Version >= v.Number {
			return nil
		}
	}
	return err
}

// adoptHarmless adopts the policy file where it is the first, while nothing has been spent, or where it changes nothing
// that the budget rests on.
func (c *Curator) adoptHarmless() error {
	for {
		// Another process may adopt at the same moment: then there is something new to compare with.
		if err := c.adoptOnce(); !errors.Is(err, ledger.ErrStale) {
			return err
		}
	}
}

func (c *Curator) adoptOnce() error {
	s, err := c.ledger.State()
	if err != nil {
		return err
	}
	one := big.NewRat(1, 1)
	if s.Adopted && s.Terms.Digest == c.policy.Digest() {
		return nil
	}
	if !s.Adopted || s.Reservations == 0 && s.Torn == 0 {
		return c.ledger.Adopt(terms(c.policy, ledger.Terms{}), one, s.Head)
	}
	changes, factor, err := c.change(s)
	if err != nil || len(changes) > 0 || factor.Cmp(one) != 0 {
		return nil //nolint:nilerr // inForce says it when a question is asked
	}
	return c.ledger.Adopt(terms(c.policy, s.Terms), one, s.Head)
}

// PolicyChange is what accepting the policy file would mean.
type PolicyChange struct {
	Changes []string
	Factor  string // every loss recorded so far counts so many times under the new terms
	Spent   Loss   // what is spent then
	Budget  Loss
}

// AcceptPolicy is the owner's act of putting a changed policy file in force: the population, its neighbours, units, sources
// or budget. Losses recorded before are read again under the new terms, or the change is refused. With dry set it only
// says what would change.
func (c *Curator) AcceptPolicy(dry bool) (*PolicyChange, error) {
	s, err := c.ledger.State()
	if err != nil {
		return nil, public(err)
	}
	changes, factor, err := c.change(s)
	if err != nil {
		return nil, err
	}
	spent := new(big.Rat).Mul(s.Spent.Rat(), factor)
	out := &PolicyChange{
		Changes: changes, Factor: exact.FormatRat(factor), Spent: Loss{exact.FormatRat(spent)}, Budget: loss(c.policy.Budget.Epsilon),
	}
	if factor.Cmp(big.NewRat(1, 1)) > 0 && spent.Cmp(c.policy.Budget.Epsilon.Rat()) > 0 {
		return out, &Error{
			Code: CodePolicy, Hint: "raise the budget knowingly, or go back to the policy in force",
			Message: "under the new terms the answers given so far would have cost " + out.Spent.Epsilon + ", more than the budget of " + out.Budget.Epsilon,
		}
	}
	if dry || s.Terms.Digest == c.policy.Digest() {
		return out, nil
	}
	if err := c.ledger.Adopt(terms(c.policy, s.Terms), factor, s.Head); err != nil {
		return nil, public(err)
	}
	return out, nil
}

// Tables lists what may be asked about. It is read from the policy, free.
func (c *Curator) Tables() ([]Table, error) {
	state, err := c.ledger.State()
	if err != nil {
		return nil, public(err)
	}
	var out []Table
	for _, t := range c.policy.Tables {
		table := Table{Name: t.Name, Description: t.Description, Public: t.Public, Unit: t.Unit.Column, ExpectedRows: t.ExpectedRows}
		v, err := seal.Current(c.home, t)
		if err == nil {
			table.Version = v.Number
		}
		table.NeverSealed = errors.Is(err, seal.ErrNotSealed) && state.Sealed[t.Name].Version == 0
		for _, column := range t.Columns {
			table.Columns = append(table.Columns, tableColumn(column))
		}
		out = append(out, table)
	}
	return out, nil
}

// Table describes a table as the policy declares it.
type Table struct {
	Name, Description string
	Public            bool
	Unit              string // the column that identifies a unit; "" where each row is one
	ExpectedRows      int64  // as declared; 0 if not
	Version           int    // the sealed version in force; 0 if there is none
	NeverSealed       bool   // no version was ever sealed: the first use may
	Columns           []TableColumn
}

// TableColumn describes a column as the policy declares it.
type TableColumn struct {
	Name, Description, Type string
	Lower, Upper            string   // declared bounds, or ""
	Values                  []string // declared values, or nil
	Nullable                bool
}

func bound(t value.Type, r *big.Rat) string {
	if t == value.Date {
		return value.OfDay(r.Num().Int64()).String()
	}
	return exact.FormatRat(r)
}

func tableColumn(c *policy.Column) TableColumn {
	out := TableColumn{Name: c.Name, Description: c.Description, Type: c.Type.String(), Nullable: c.Nullable}
	if c.Lower != nil {
		out.Lower, out.Upper = bound(c.Type, c.Lower), bound(c.Type, c.Upper)
	}
	for _, v := range c.Values {
		out.Values = append(out.Values, v.String())
	}
	return out
}

// CheckPolicy reads a home's policy file and says, for its owner, what it allows and what it leaves open. It reads no
// source and spends nothing.
func CheckPolicy(home string) ([]string, error) {
	p, err := policy.Load(filepath.Join(home, policy.FileName))
	if err != nil {
		return nil, homeError(err)
	}
	lines := []string{fmt.Sprintf("population %s (%s), budget ε = %s, a question costs ε = %s by default and %s at most",
		p.Population.Name, p.Population.Neighbours, p.Budget.Epsilon, p.Price.Default, p.Price.Maximum)}
	for _, t := range p.Tables {
		lines = append(lines, fmt.Sprintf("table %s: %d columns", t.Name, len(t.Columns)))
		if _, err := os.Stat(t.Source.File); err != nil {
			lines = append(lines, fmt.Sprintf("  its source %s is not there", t.Source.Path))
		}
		for _, c := range t.Columns {
			if gap := gapOf(t, c); gap != "" {
				lines = append(lines, fmt.Sprintf("  %s: %s", c.Name, gap))
			}
		}
	}
	return lines, nil
}

// gapOf says what cannot be asked of a column as it is declared.
func gapOf(t *policy.Table, c *policy.Column) string {
	switch {
	case t.Public || c.Name == t.Unit.Column || c.Lower != nil || c.Values != nil || c.Type == value.Boolean:
		return ""
	case c.Type == value.Text || c.Type == value.Date:
		return "no values declared: it may be compared, but not grouped by"
	}
	return "no bounds declared: it may be compared, but not summed, averaged or grouped by"
}
