package curator

import (
	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/seal"
)

// sealed are the current versions of the tables that b reads, in the order of its Tables, and their numbers.
func (c *Curator) sealed(b *plan.Bounded) (tables []seal.Version, versions []int, err error) {
	for _, name := range b.Tables() {
		v, err := c.current(name)
		if err != nil {
			return nil, nil, err
		}
		tables, versions = append(tables, v), append(versions, v.Number)
	}
	return tables, versions, nil
}

// from is what the look's statement reads.
func (l *look) from() engine.Sealed {
	out := known(l.tables[0])
	if l.bounded.Source == nil {
		return out
	}
	out = engine.Sealed{Tables: map[string]engine.Sealed{}}
	for _, v := range l.tables {
		out.Tables[v.Table] = known(v)
	}
	return out
}
