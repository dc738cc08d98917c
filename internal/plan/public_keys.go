package plan

import (
	"dither/internal/bind"
	"dither/internal/query"
)

// publicKeys refuses keys that the join says nothing about, and a question that has none: rows that it drops would be in some group.
func (b *builder) publicKeys() error {
	if b.public == nil {
		return nil
	}
	for _, x := range b.tree.GroupBy {
		c, ok := b.resolveAlias(x).(*query.Column)
		if ok {
			n, err := b.Find(c)
			if err != nil {
				return err
			}
			ok = n.Group
		}
		if !ok {
			return bind.Refuse(x.Pos(), b.public.Hint, "under PUBLIC_GROUPS everything in GROUP BY is the public table's column")
		}
	}
	if len(b.tree.GroupBy) == 0 {
		return bind.Refuse(
			b.public.At,
			b.public.Hint,
			"a join for PUBLIC_GROUPS says nothing of a question that is not grouped by its column",
		)
	}
	return nil
}
