package bind

import (
	"slices"
	"strings"

	"dither/internal/query"
)

// The values of the option group_selection_strategy, which decides how the groups of an answer are found.
const (
	LaplaceThreshold = "laplace_threshold" // unknown groups are selected privately; known groups need no selection
	PublicGroups     = "public_groups"     // every group must be known beforehand
)

// StrategyOption returns the value of group_selection_strategy, LaplaceThreshold or PublicGroups. It refuses any
// other value.
func StrategyOption(o query.Option) (string, error) {
	word := ""
	switch x := o.Value.(type) {
	case *query.Column:
		word = strings.ToLower(x.Name)
	case *query.Literal:
		word = strings.ToLower(x.Text)
	}
	if word != LaplaceThreshold && word != PublicGroups {
		return "", Refuse(o.Value.Pos(), "", "group_selection_strategy is LAPLACE_THRESHOLD or PUBLIC_GROUPS")
	}
	return word, nil
}

// UnitQualified refuses the option privacy_unit_column if it names a table that is not in the question.
func (l *Scope) UnitQualified(tree *query.Select) error {
	if tree.Options == nil {
		return nil
	}
	for _, o := range tree.Options.List {
		c, ok := o.Value.(*query.Column)
		if o.Name != "privacy_unit_column" || !ok || c.Table == "" {
			continue
		}
		tables := []string{l.alias}
		if l.Names != nil {
			tables = l.tables()
		}
		if !slices.Contains(tables, c.Table) {
			return Refuse(o.Value.Pos(), suggestion(c.Table, tables), "there is no table %q in this question", c.Table)
		}
	}
	return nil
}
