package curator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"dither/internal/plan"
	"dither/internal/policy"
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
	takes := func(c *policy.Column) bool { return c.ValuesFrom != nil }
	if !slices.ContainsFunc(c.policy.Tables, func(t *policy.Table) bool { return slices.ContainsFunc(t.Columns, takes) }) {
		return c.policy
	}
	return c.policy.Filled(func(o policy.Origin) ([]value.Value, int, string) {
		values, version, err := c.valuesOf(o)
		switch {
		case errors.Is(err, errUnread), errors.Is(err, errMayChange):
			return nil, 0, err.Error()
		case err != nil:
			return nil, 0, "that table cannot be read: " + public(err).Message
		case len(values) == 0:
			return nil, 0, "there are none"
		case len(values) > policy.MaxKeys:
			return nil, 0, fmt.Sprintf("there are more than %d", policy.MaxKeys)
		}
		return values, version, ""
	})
}

var (
	errUnread    = errors.New("its sealed version is unreadable")
	errMayChange = errors.New("it is read on its server, where its values may change: seal it with --copy")
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
	if table.Live && table.Copy == nil { // releases of a version are read by its values
		return nil, 0, errMayChange
	}
	o.Version, o.Trouble = table.Number, ""
	c.values.mu.Lock()
	defer c.values.mu.Unlock()
	if values, ok := c.values.known[o]; ok {
		return values, o.Version, nil
	}
	column := t.Column(o.Column)
	values, ok := kept(table, column)
	if !ok {
		ctx, cancel := context.WithTimeout(context.Background(), defaultTimeout)
		defer cancel()
		if values, err = c.engine.Values(ctx, plan.PublicColumn(column), c.known(table), policy.MaxKeys+1); err != nil {
			c.tellOwner(err)
			return nil, 0, errUnread
		}
		keep(table, column, values)
	}
	if c.values.known == nil {
		c.values.known = map[policy.Origin][]value.Value{}
	}
	c.values.known[o] = values
	return values, o.Version, nil
}
