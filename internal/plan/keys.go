package plan

import (
	"cmp"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
)

// MaxCells is the largest number of cells of one answer. A cell is one group: one combination of the keys' values.
// MaxNumbers is the largest number of released numbers: cells times measures. A release must fit into memory, and into
// one entry of the ledger.
const (
	MaxCells   = 100_000
	MaxNumbers = 200_000
)

// keyed is the result of the second phase, bindKeys. It holds which rows count and which cells (groups) there are.
type keyed struct {
	*question
	scope     bind.Scope    // the names, with the columns that conditions and keys read
	tree      *query.Select // the syntax tree with its grouping sets expanded: GROUP BY is a list of expressions
	where     *bounded.Expr // nil for all rows
	part      *bounded.Part // the parts to which the question is confined; nil for everything
	keys      []bounded.Key // in canonical order, each once
	grouped   []bounded.Key // the GROUP BY expressions, in the question's order
	groupedBy []string      // the same expressions, as the question writes them
	grids     []*bind.Grid  // for each of them, the real that answers show for an integer; nil for the key itself
	place     []int         // the index in keys of each GROUP BY expression
	sets      [][]int       // the grouping sets, as lists of keys, in canonical order; nil if there are none
	shown     []int         // the indices in sets of the sets that the question lists, in its order
	// the grouping sets as the question lists them, as lists of GROUP BY expressions; nil if none
	written [][]int
	// the refusal of an unknown key each of whose groups belongs to one unit; nil if there is none
	oneUnit error
	setsAt  query.Pos // the position of the grouping sets
	notes   notes
}

// keying is the working state of the second phase.
type keying struct {
	*keyed
	*bind.Scope // keyed.scope
}

// bindKeys decides which rows count and which cell each row is in. It binds the conditions, the parts, the keys
// and the grouping sets.
func bindKeys(q *question) (*keyed, error) {
	b := newKeying(q)
	if err := run(b.spread, b.publicKeys, b.bindWhere, b.confine, b.groupBy, b.selectionOptions, b.groupSets); err != nil {
		return nil, err
	}
	return b.keyed, nil
}

// bindPlainKeys is bindKeys for a question whose answer is no table of noisy numbers, such as a selection. It refuses
// clauses that only such tables have. Then it calls suits, which may refuse the question.
func bindPlainKeys(q *question, suits func(*query.Select) error) (*keyed, error) {
	b := newKeying(q)
	suited := func() error { return suits(b.tree) }
	if err := run(b.spread, b.plainly, b.publicKeys, suited, b.bindWhere, b.confine, b.groupBy); err != nil {
		return nil, err
	}
	return b.keyed, nil
}

func newKeying(q *question) *keying {
	k := &keyed{question: q, tree: q.parsed, scope: q.scope.Clone()}
	return &keying{k, &k.scope}
}

// open reports whether the groups are unknown, because some key has no known values.
func (k *keyed) open() bool {
	return slices.ContainsFunc(k.keys, func(k bounded.Key) bool { return k.Open })
}

// cells returns a statement with the question's keys alone, to compute its number of cells (groups).
func (k *keyed) cells() *bounded.Statement { return &bounded.Statement{Keys: k.keys} }

// first returns the position of the first item of the SELECT list.
func (k *keyed) first() query.Pos { return k.tree.Items[0].Expr.Pos() }

func (b *keying) bindWhere() (err error) {
	if b.tree.Where != nil {
		b.where, err = b.Condition(b.tree.Where)
	}
	if err == nil {
		b.where = bind.Conjunction(b.within, b.where)
	}
	if err == nil && b.where != nil && b.where.Weight() > bounded.MaxWeight {
		err = bind.Refuse(query.Pos{}, "simplify them", "the conditions are too large when they are expanded")
	}
	return err
}

func (b *keying) groupBy() error {
	cells := 1
	for _, x := range b.tree.GroupBy {
		meant := resolveAlias(b.Scope, b.tree, x)
		if err := bind.Placed(x, meant); err != nil {
			return err
		}
		e, err := b.Row(meant)
		if err != nil {
			return err
		}
		if bind.IsUntypedNull(e) {
			return bind.Refuse(x.Pos(), "", "NULL is not a group")
		}
		grid := b.grid(e, x.Pos())
		if grid != nil {
			e = grid.Whole
		}
		k, err := b.openKey(e, x.Pos())
		if err != nil {
			return err
		}
		b.grouped, b.grids = append(b.grouped, k), append(b.grids, grid)
		b.groupedBy = append(b.groupedBy, query.Print(meant))
		if cells = min(cells*max(len(k.Values), 1), MaxCells+1); cells > MaxCells && !b.manyCells {
			many := bind.Refuse(
				x.Pos(),
				b.fewer(),
				"the answer would have more than %d cells",
				MaxCells,
			)
			many.Many = true
			return many
		}
	}
	b.keys, b.place = sortKeys(b.grouped)
	return nil
}

// fewer returns the hint for a question with too many groups.
func (b *keying) fewer() string {
	hint := "group by fewer or coarser expressions, or let WHERE leave fewer values"
	if _, kept := b.policy.Budget.Loss.ZCDP(); !kept.IsZero() && b.unknownKeys && b.request.GroupSelection != bind.PublicGroups {
		hint += "; --allow-selection selects groups with many units, which costs a delta"
	}
	return hint
}

// publicKeys checks a question with a join that makes groups public (bind.PublicJoin). Each key must be the join's
// public column, and there must be a key. Otherwise rows that the join drops would be in some group.
func (b *keying) publicKeys() error {
	if b.public == nil {
		return nil
	}
	for _, x := range b.tree.GroupBy {
		c, ok := resolveAlias(b.Scope, b.tree, x).(*query.Column)
		if ok {
			n, err := b.Find(c)
			if err != nil {
				return err
			}
			ok = n.Group
		}
		if !ok {
			return bind.Refuse(x.Pos(), b.public.Hint, "under PUBLIC_GROUPS, GROUP BY takes only the public table's column")
		}
	}
	if len(b.tree.GroupBy) == 0 {
		return bind.Refuse(
			b.public.At,
			b.public.Hint,
			"a join for PUBLIC_GROUPS needs a GROUP BY of its column",
		)
	}
	return nil
}

// selectionOptions refuses options on the selection of groups if all groups are known. It refuses PUBLIC_GROUPS if
// the groups are unknown.
func (b *keying) selectionOptions() error {
	switch open := b.open(); {
	case open && b.request.GroupSelection == bind.PublicGroups:
		return bind.Refuse(
			query.Pos{},
			"leave out group_selection_strategy to select groups privately; or the owner can declare the values of the "+
				"GROUP BY expression",
			"PUBLIC_GROUPS needs known keys, and no more than an answer may have",
		)
	case b.request.Unknown.MinUnits > 1 && len(b.tree.GroupBy) == 0:
		return bind.Refuse(
			query.Pos{},
			"leave it out; or write HAVING COUNT(*) > 100, which compares a noisy count",
			"a least number of units needs a GROUP BY, and this question has none",
		)
	case !open && b.request.Unknown.MinUnits > 1:
		return bind.Refuse(
			query.Pos{},
			"leave it out",
			"a least number of units applies to unknown keys, and all keys here are known",
		)
	}
	if r := b.request; !b.open() && len(b.tree.GroupBy) > 0 &&
		(r.GroupSelection == bind.LaplaceThreshold || !r.Unknown.Delta.IsZero()) {
		b.notes.add("All keys are known: every group is shown without a selection, and no delta is spent.")
	}
	return nil
}

// sortKeys returns the keys in canonical order without repeats, and the index in them of each original key.
func sortKeys(keys []bounded.Key) (sorted []bounded.Key, place []int) {
	sorted = slices.Clone(keys)
	slices.SortStableFunc(sorted, func(a, b bounded.Key) int { return cmp.Compare(a.Expr.String(), b.Expr.String()) })
	sorted = slices.CompactFunc(sorted, func(a, b bounded.Key) bool { return a.Expr.Same(b.Expr) })
	for _, k := range keys {
		place = append(place, slices.IndexFunc(sorted, func(s bounded.Key) bool { return s.Expr.Same(k.Expr) }))
	}
	return sorted, place
}
