package curator

import (
	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/seal"
)

// sealed are the current versions of the tables that b reads, in the order of its Tables, and their numbers.
func (c *Curator) sealed(b *bounded.Statement) (tables []seal.Version, versions []int, err error) {
	for _, name := range b.Tables() {
		v, err := c.current(name)
		if err != nil {
			return nil, nil, err
		}
		tables, versions = append(tables, v), append(versions, v.Number)
	}
	return tables, versions, nil
}

// sources are the sealed versions that a look reads, for the ledger.
func (l *look) sources() (out []ledger.Source) {
	for _, v := range l.tables {
		out = append(out, ledger.Source{Table: v.Table, Version: v.Number})
	}
	return out
}

// tableNames are their names.
func (l *look) tableNames() (out []string) {
	for _, v := range l.tables {
		out = append(out, v.Table)
	}
	return out
}

// versions are their numbers.
func (l *look) versions() (out []int) {
	for _, v := range l.tables {
		out = append(out, v.Number)
	}
	return out
}

// expectedRows is how many rows the owner expects of what a plan is about: of a relation, nobody says.
func (c *Curator) expectedRows(p *plan.Plan) int64 {
	if p.Source != nil {
		return 0
	}
	return c.policy.Table(p.Table).ExpectedRows
}

// from is what the look's statement reads.
func (c *Curator) from(l *look) engine.Sealed {
	out := c.known(l.tables[0])
	if l.bounded.Source == nil {
		return out
	}
	out = engine.Sealed{Table: out.Table, Tables: map[string]engine.Sealed{}}
	for _, v := range l.tables {
		out.Tables[v.Table] = c.known(v)
	}
	return out
}
