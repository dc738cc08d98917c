package curator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dither/internal/draft"
	"dither/internal/ledger"
	"dither/internal/policy"
	"dither/internal/release"
	"dither/internal/seal"
	"dither/internal/value"
)

// CheckPolicy reads a home's policy file and describes to the owner what the policy allows and leaves undeclared.
// It reads no row of a source, only the header of a CSV file. It spends nothing.
func CheckPolicy(home string) ([]string, error) {
	p, err := policy.Load(filepath.Join(home, policy.FileName))
	if err != nil {
		return nil, homeError(err)
	}
	lines := []string{
		fmt.Sprintf("population %s (%s), budget %s, a question costs %s by default, %s at least and %s at most",
			p.Population.Name, p.Population.Neighbours, budgetText(p), p.Budget.Asked(p.Price.Default, true),
			p.Budget.Asked(p.Price.Minimum, true), p.Budget.Asked(p.Price.Maximum, false)),
	}
	if p.Budget.Loss.Within(p.Price.Maximum) {
		lines = append(
			lines,
			"one question may cost the whole budget, and so may a ledger entry that a crash damages: set "+
				"price.maximum to limit both",
		)
	}
	lines = append(lines, sharing(p)...)
	if p.Delay != nil {
		lines = append(lines, fmt.Sprintf("answers leave at %s", p.Delay))
	} else if len(p.Analysts) > 0 {
		lines = append(
			lines,
			"the policy lists analysts but has no answer_delay: the time that an answer takes may reveal rows "+
				"(`dither audit timing` measures how much)",
		)
	}
	_, selecting := p.Price.Maximum.ZCDP()
	if !selecting.IsZero() {
		lines = append(
			lines,
			fmt.Sprintf(
				"a question with unknown keys costs an additional δ = %s by default, %s at most",
				p.Price.Delta,
				selecting,
			),
		)
	}
	for _, t := range p.Tables {
		lines = append(lines, fmt.Sprintf("table %s: %s", t.Name, plural(len(t.Columns), "column")))
		if t.Source.Live() {
			lines = append(lines, fmt.Sprintf("  its source %s is on a server and is read in place: it was not "+
				"checked", t.Source.Path))
			if t.Part != nil {
				lines = append(lines, "  questions about its parts are charged to everybody, unless it is sealed with --copy")
			}
		} else if !isThere(t.Source) {
			lines = append(lines, fmt.Sprintf("  its source %s does not exist", t.Source.Path))
		} else if text := draft.Doubt(t); text != "" {
			lines = append(lines, "  "+text)
		}
		if text := apart(p, t); text != "" {
			lines = append(lines, "  "+text)
		}
		if text := draft.PatternHint(p, t.Name); text != "" {
			lines = append(lines, "  "+text)
		}
		lines = append(lines, gapsOf(t, !selecting.IsZero())...)
	}
	return append(lines, standing(home, p)...), nil
}

// budgetText returns the budget in the unit that the policy declares, and the ρ that an (ε, δ) budget becomes.
func budgetText(p *policy.Policy) string {
	b := p.Budget
	text := b.Loss.Short(false)
	if _, pure := b.Loss.Pure(); pure || b.Epsilon.IsZero() {
		return text
	}
	return fmt.Sprintf("ε = %s at δ = %s (%s)", b.Epsilon, b.Delta, text)
}

// isThere reports whether a source's file exists, or at least one file that matches its pattern.
func isThere(s policy.Source) bool {
	if s.IsPattern() {
		files, err := filepath.Glob(s.File)
		return err == nil && len(files) > 0
	}
	_, err := os.Stat(s.File)
	return err == nil
}

// changed lists the server tables that have been seen to change since they were sealed.
func changed(home string, p *policy.Policy) (lines []string) {
	for _, t := range p.Tables {
		if at := seal.Changed(home, t); at != "" {
			lines = append(
				lines,
				fmt.Sprintf("table %s seems to have changed since it was sealed (first noticed at %s): seal it "+
					"again, so that its new contents get a version number", t.Name, at),
			)
		}
	}
	return lines
}

func plural[T int | int64](n T, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// standing describes how a home's policy file differs from the policy in force, and which tables must be sealed
// again. It returns nil if the home has no ledger. It only reads the ledger, and changes nothing.
func standing(home string, p *policy.Policy) []string {
	found, err := ledger.Verify(home, nil)
	if errors.Is(err, ledger.ErrMissing) {
		return nil
	}
	if err != nil {
		return []string{"the ledger cannot be read: " + err.Error()}
	}
	c, s := &Session{house: &house{home: home, policy: p}}, found.State
	lines := append([]string{}, c.difference(s)...)
	if s.Adopted && s.Terms.Digest != p.Digest() {
		lost := losing(home, s)
		if len(lost) > 0 && len(lines) == 1 && strings.Contains(lines[0], takesOver) {
			lines = []string{"this is not the policy in force, and it does not come into force by itself:"}
		}
		lines = append(lines, lost...)
	}
	for _, t := range c.stale() {
		lines = append(
			lines,
			fmt.Sprintf("table %s: its declaration has changed since it was sealed: run `dither seal`, or "+
				"questions about it are refused", t),
		)
	}
	return append(lines, changed(home, p)...)
}

// losing lists the unfinished trainings that a changed policy would end.
func losing(home string, s ledger.State) (lines []string) {
	trainings, err := release.PinnedIn(home, s)
	if err != nil {
		return []string{"the ledger cannot be read: " + err.Error()}
	}
	for _, u := range trainings {
		lines = append(
			lines,
			fmt.Sprintf(
				"training %s is paid for but unfinished, and the change would end it: finish it first, or run "+
					"`dither policy accept --abandon`",
				u,
			),
		)
	}
	return lines
}

const takesOver = "it comes into force when the home is next opened"

// difference describes how the policy file differs from the ledger's terms.
func (c *Session) difference(s ledger.State) []string {
	switch {
	case !s.Adopted:
		return []string{"no policy is in force yet: " + takesOver}
	case s.Terms.Digest == c.policy.Digest():
		return []string{"this is the policy in force"}
	case unspent(s):
		return []string{"another policy is in force; nothing has been spent under it: " + takesOver}
	}
	changes, group, err := c.change(s)
	if err == nil {
		_, err = reread(s.Spent, c.policy.Budget.Loss, group)
	}
	var refused *policy.ChangeError
	switch {
	case errors.As(err, &refused) && refused.Missing != nil:
		return []string{
			"this is not the policy in force. `dither policy accept` first checks the sealed rows: " + refused.Error(),
		}
	case err != nil:
		return []string{"this is not the policy in force, and cannot be accepted: " + err.Error()}
	case len(changes) == 0 && group == 1:
		return []string{"this is not the policy in force, but nothing that changed affects the budget: " + takesOver +
			"; under it, a question that was answered before is charged again"}
	}
	lines := []string{"this is not the policy in force: questions are refused until `dither policy accept`, which " +
		"has these effects:"}
	for _, text := range changes {
		lines = append(lines, "  - "+text)
	}
	if group > 1 {
		lines = append(lines, fmt.Sprintf("  - losses so far count as those of a group of %d units", group))
	}
	return lines
}

// stale returns the tables whose newest sealed version no longer fits their declaration.
func (c *Session) stale() (tables []string) {
	for _, t := range c.policy.Tables {
		if _, err := seal.Current(c.home, t); errors.As(err, new(*seal.StaleError)) {
			tables = append(tables, t.Name)
		}
	}
	return tables
}

// gapsOf returns a line for each kind of gap in a table's declarations, with the columns that have it. A survey may have
// hundreds of columns.
func gapsOf(t *policy.Table, selecting bool) (lines []string) {
	var gaps []string
	names := map[string][]string{}
	for _, c := range t.Columns {
		gap := gapOf(t, c, selecting)
		if gap == "" {
			continue
		}
		if !slices.Contains(gaps, gap) {
			gaps = append(gaps, gap)
		}
		names[gap] = append(names[gap], c.Name)
	}
	for _, gap := range gaps {
		list, more := names[gap], ""
		if len(list) > maxGaps {
			list, more = list[:maxGaps], fmt.Sprintf(" and %d more", len(list)-maxGaps)
		}
		lines = append(lines, fmt.Sprintf("  %s%s: %s", strings.Join(list, ", "), more, gap))
	}
	return lines
}

// maxGaps is the largest number of columns that a line about a gap names.
const maxGaps = 20

// gapOf describes the uses of a column that its declaration rules out, or returns "".
func gapOf(t *policy.Table, c *policy.Column, selecting bool) string {
	known := t.Public || c.Name == t.Unit.Column || c.Lower != nil || c.Values != nil || c.Type == value.Boolean
	switch {
	case c.ValuesFrom != nil:
		return fmt.Sprintf("its values are those of %s.%s, once that table is "+
			"sealed", c.ValuesFrom.Table, c.ValuesFrom.Column)
	case selecting && !known && (c.Type == value.Text || c.Type == value.Date || c.Type == value.Time):
		return "no values declared: questions may compare it, and its keys are unknown in GROUP BY"
	case selecting && !known && c.Type == value.Integer:
		return "no bounds declared: questions may compare it, but not sum or average it, and its keys are unknown in GROUP BY"
	}
	switch {
	case t.Public || c.Name == t.Unit.Column || t.References[c.Name].Table != "" || c.Lower != nil ||
		c.Values != nil || c.Type == value.Boolean:
		return ""
	case c.Type == value.Text || c.Type == value.Date || c.Type == value.Timestamp || c.Type == value.Time:
		return "no values declared: questions may compare it, but not group by it"
	}
	return "no bounds declared: questions may compare it, but not sum, average or group by it"
}
