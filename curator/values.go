package curator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// publicValues are those of public tables' columns, looked up once for each sealed version.
type publicValues struct {
	mu    sync.Mutex
	known map[policy.Origin][]value.Value
}

// filled is the policy that questions are planned under: columns whose values are those of a public table's have them, of its sealed
// version in force. A public table is no secret, so it is read as it is; the number of its version is in the replay key.
func (c *Curator) filled() *policy.Policy {
	p := c.undivided()
	takes := func(c *policy.Column) bool { return c.ValuesFrom != nil }
	if !slices.ContainsFunc(p.Tables, func(t *policy.Table) bool { return slices.ContainsFunc(t.Columns, takes) }) {
		return p
	}
	return p.Filled(func(o policy.Origin) ([]value.Value, int, string) {
		values, version, err := c.valuesOf(o)
		switch {
		case errors.Is(err, errUnread), errors.Is(err, errNotNoted):
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
func (c *Curator) undivided() *policy.Policy {
	out := c.policy
	for i, t := range c.policy.Tables {
		if !t.Source.Live() || t.Part == nil && (t.Public || t.Unit.IsRow()) {
			continue
		}
		if v, err := c.current(t.Name); err != nil || v.Copy != nil {
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

var (
	errUnread   = errors.New("its sealed version is unreadable")
	errNotNoted = errors.New("that table, which is on a server, was sealed before they were asked for, or as it was declared before: seal it again")
)

// valuesOf gives the values of a public table's column.
func (c *Curator) valuesOf(o policy.Origin) ([]value.Value, int, error) {
	t := c.policy.Table(o.Table)
	if t == nil || !t.Public || t.Column(o.Column) == nil {
		return nil, 0, fmt.Errorf("defect: values of what is not a public column")
	}
	table, err := c.current(o.Table)
	if err != nil {
		return nil, 0, err
	}
	o.Version, o.Trouble = table.Number, ""
	c.values.mu.Lock()
	defer c.values.mu.Unlock()
	if values, ok := c.values.known[o]; ok {
		return values, o.Version, nil
	}
	values, err := c.readValues(table, t.Column(o.Column))
	if errors.Is(err, errNotNoted) || errors.As(err, new(*seal.DamagedError)) {
		return nil, 0, err
	}
	if err != nil {
		c.tellOwner(err)
		return nil, 0, errUnread
	}
	if c.values.known == nil {
		c.values.known = map[policy.Origin][]value.Value{}
	}
	c.values.known[o] = values
	return values, o.Version, nil
}

// readValues reads them: of a table that is read on its server, from what sealing noted, since releases of a version are read by its values and the
// table's may be others by now.
func (c *Curator) readValues(v seal.Version, column *policy.Column) ([]value.Value, error) {
	if v.Live && v.Copy == nil {
		values, noted, err := seal.Values(v, column)
		if err == nil && !noted {
			err = errNotNoted
		}
		return values, err
	}
	if values, ok := kept(v, column); ok {
		return values, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), defaultTimeout)
	defer cancel()
	release, err := c.hold(ctx, []seal.Version{v})
	if err != nil {
		return nil, err
	}
	defer release()
	values, err := c.engine.Values(ctx, bounded.PublicColumn(column), c.known(v), policy.MaxKeys+1)
	if err == nil {
		keep(v, column, values)
	}
	return values, err
}

// taken are the columns of a public table whose values are those of other tables' columns.
func taken(p *policy.Policy, table string) (out []string) {
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if c.ValuesFrom != nil && c.ValuesFrom.Table == table {
				out = append(out, c.ValuesFrom.Column)
			}
		}
	}
	return out
}
