package curator

import (
	"errors"
	"fmt"
	"slices"

	"dither/internal/policy"
	"dither/internal/release"
	"dither/internal/value"
)

// filled returns the policy that questions are planned under. A column may take its values from a public table:
// filled reads them from that table's newest sealed version. A public table is not secret, so it is read without
// noise. The replay key includes the number of its version.
func (c *Session) filled() *policy.Policy {
	p := c.undivided()
	if !slices.ContainsFunc(p.Tables, func(t *policy.Table) bool { return t.Public }) {
		return p // no column takes values from a public table
	}
	p = p.WithPublic(func(o policy.Origin) ([]value.Value, string) {
		values, _, trouble := c.publicValues(o)
		return values, trouble
	})
	takes := func(c *policy.Column) bool { return c.ValuesFrom != nil }
	if !slices.ContainsFunc(p.Tables, func(t *policy.Table) bool { return slices.ContainsFunc(t.Columns, takes) }) {
		return p
	}
	return p.Filled(c.publicValues)
}

// publicValues returns the distinct values of a public table's column in its newest sealed version, and the number of that
// version, or the reason why there are none.
func (c *Session) publicValues(o policy.Origin) (values []value.Value, version int, trouble string) {
	values, version, err := c.kernel.Values(o)
	switch {
	case errors.Is(err, release.ErrUnread), errors.Is(err, release.ErrNotNoted):
		return nil, 0, err.Error()
	case err != nil:
		return nil, 0, "that table cannot be read: " + c.public(err).Message
	case len(values) == 0:
		return nil, 0, "there are none"
	case len(values) > policy.MaxKeys:
		return nil, 0, fmt.Sprintf("there are more than %d", policy.MaxKeys)
	}
	return values, version, ""
}

// undivided returns the policy without the parts and ranks of live tables that are read in place. A part is a subset of
// the units, and a rank numbers the rows of one unit. Rows read in place have no ranks, since only a copy assigns them.
// Charging parts would be unsound there: rows may change between two questions. A unit that moves from one part to
// another would then lose both charges, and the budget would count only one. So these questions are charged to
// everybody. If a new version replaces one of the other kind before the access, the engine refuses parts.
func (c *Session) undivided() *policy.Policy {
	out := c.policy
	for i, t := range c.policy.Tables {
		if !t.Source.Live() || t.Part == nil && (t.Public || t.Unit.IsRow()) {
			continue
		}
		if v, err := c.kernel.Current(t.Name); err != nil || v.Copy != nil {
			continue
		}
		if out == c.policy {
			whole := *c.policy
			whole.Tables = slices.Clone(c.policy.Tables)
			out = &whole
		}
		table := *t
		table.Part, table.Unranked = nil, true
		out.Tables[i] = &table
	}
	return out
}
