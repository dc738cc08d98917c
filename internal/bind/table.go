package bind

import (
	"dither/internal/policy"
	"dither/internal/query"
)

func tableOf(p *policy.Policy, tree *query.Select) (*policy.Table, error) {
	if tree.From.None() {
		return nil, NoTable(tree.From.At)
	}
	if t := p.Table(tree.From.Table); t != nil {
		if t.Public {
			return nil, Refuse(
				tree.From.At,
				"read its source directly: it is public",
				"table %q is public and holds nothing to protect",
				t.Name,
			)
		}
		return t, nil
	}
	return nil, noTable(p, tree.From.Table, tree.From.At)
}

// Catalogs refuses a catalog before a table's name other than the population's name, which is the only one. Schemas
// other than public have the same name.
func Catalogs(p *policy.Policy, tree *query.Select) error {
	for _, c := range tree.Catalogs {
		if c.Name != p.Population.Name && c.Of != "" {
			return Refuse(c.At, "all tables are in the schema "+query.Schema+": write "+c.Of+", or "+query.Schema+"."+c.Of,
				"there is no schema %q", c.Name)
		}
		if c.Name != p.Population.Name {
			return Refuse(c.At, "write "+query.QuoteName(p.Population.Name)+", or leave it out", "there is no catalog %q", c.Name)
		}
	}
	return nil
}

// NoTable returns the refusal of a question that has no FROM, and needs one.
func NoTable(at query.Pos) *Error {
	return Refuse(at, "add FROM and a table's name", "the question has no table")
}

func noTable(p *policy.Policy, name string, at query.Pos) error {
	var names []string
	for _, t := range p.Tables {
		names = append(names, t.Name)
	}
	return Refuse(at, suggestion(name, names), "there is no table %q", name)
}

func aliasOf(tree *query.Select) string {
	if tree.From.Alias != "" {
		return tree.From.Alias
	}
	return tree.From.Table
}
