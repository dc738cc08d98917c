package tabulate

import (
	"context"
	"slices"
	"strings"

	"dither/curator"
)

// resolved returns the specification with the paths of hierarchies that name a public table. Reading such a table is
// free.
func (s *Spec) resolved(ctx context.Context, c *curator.Session, analyst string) (*Spec, error) {
	out := *s
	out.Hierarchies = slices.Clone(s.Hierarchies)
	for i := range out.Hierarchies {
		h := &out.Hierarchies[i]
		if h.Table == "" {
			continue
		}
		if err := h.read(ctx, c, analyst); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// read reads the paths of a hierarchy from its table. It asks only about a table that the policy declares as public, so
// that the question has no price.
func (h *Hierarchy) read(ctx context.Context, c *curator.Session, analyst string) error {
	tables, err := c.Tables()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(tables, func(t curator.Table) bool { return t.Name == h.Table && t.Public })
	if at < 0 {
		return misuse("name a table with public: true, or a file", "the hierarchy %s needs a public table, and the policy has none named %s",
			h.Name, h.Table)
	}
	var columns []string
	for _, level := range h.Levels {
		if !slices.ContainsFunc(tables[at].Columns, func(c curator.TableColumn) bool { return c.Name == level }) {
			return misuse("", "the table %s has no column %s, which the hierarchy %s needs for its level", h.Table, level, h.Name)
		}
		columns = append(columns, quoted(level))
	}
	r, err := c.Answer(ctx, curator.Question{
		SQL: "SELECT " + strings.Join(columns, ", ") + " FROM " + quoted(h.Table), Analyst: analyst,
	})
	if err != nil {
		return err
	}
	h.Paths = nil
	for _, row := range r.Rows {
		path := make([]string, len(row))
		for i, cell := range row {
			path[i] = label(cell.Key)
		}
		h.Paths = append(h.Paths, path)
	}
	h.Paths = distinct(h.Paths)
	if _, err := h.tree(); err != nil {
		return misuse("", "hierarchy %s, from the table %s: %v", h.Name, h.Table, err)
	}
	return nil
}

// quoted returns a name as an identifier of SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
