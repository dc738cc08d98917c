package bind

import (
	"slices"
	"strings"

	"dither/internal/query"
)

// How the groups of an answer come about, as OPTIONS(group_selection_strategy = …) asks for it.
const (
	LaplaceThreshold = "laplace_threshold" // unknown groups are selected privately; known ones need no selection
	PublicGroups     = "public_groups"     // every group is known beforehand
)

// StrategyOption reads group_selection_strategy: LaplaceThreshold, PublicGroups, or a refusal.
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

// UnitQualified refuses a privacy_unit_column that names a table which is not in the question.
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
