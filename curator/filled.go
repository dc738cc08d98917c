package curator

import (
	"errors"
	"fmt"
	"slices"

	"dither/internal/policy"
	"dither/internal/release"
	"dither/internal/value"
)

// filled is the policy that questions are planned under: columns whose values are those of a public table's have them, of its sealed
// version in force. A public table is no secret, so it is read as it is; the number of its version is in the replay key.
func (c *Session) filled() *policy.Policy {
	p := c.undivided()
	takes := func(c *policy.Column) bool { return c.ValuesFrom != nil }
	if !slices.ContainsFunc(p.Tables, func(t *policy.Table) bool { return slices.ContainsFunc(t.Columns, takes) }) {
		return p
	}
	return p.Filled(func(o policy.Origin) ([]value.Value, int, string) {
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
	})
}

// undivided is the policy without the ranks and parts of tables that are read where they are, and change. Rows have the ranks that a copy gave them, or none; and who moves from one part to another between two
// questions would lose what both were charged, and the budget would count one of them. So such questions are charged to everybody. Of a version that is replaced
// by one of the other kind meanwhile, an engine refuses parts.
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
