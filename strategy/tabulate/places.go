package tabulate

import (
	"fmt"
	"slices"

	"dither/curator"
	"dither/internal/policy"
	"dither/strategy/table"
)

func hierarchy(f policy.Field, places func(string) ([][]string, error)) Hierarchy {
	keys := f.Keys("key", "file", "levels", "places", "table", "total")
	h := Hierarchy{Name: f.Name(), Key: need(f, keys["key"], "key"), Levels: texts(keys["levels"])}
	checkName(f, h.Name)
	for _, l := range h.Levels {
		checkName(keys["levels"], l)
	}
	if len(h.Levels) == 0 && keys["levels"].Present() || !keys["levels"].Present() {
		f.Fail("such as levels: [county, state]", "levels are missing")
		return h
	}
	h.Total, _ = keys["total"].Text()
	checkName(keys["total"], h.Total)
	h.Table, _ = keys["table"].Text()
	given := 0
	for _, name := range []string{"file", "places", "table"} {
		if keys[name].Present() {
			given++
		}
	}
	switch file, ok := keys["file"].Text(); {
	case given > 1:
		f.Fail("", "give one of file, places and table")
	case h.Table != "": // read when the tables are planned
	case ok:
		rows, err := places(file)
		if err != nil {
			keys["file"].Fail("", "the file cannot be read: %v", err)
			return h
		}
		h.Paths = columns(keys["file"], rows, h.Levels)
	case keys["places"].Present():
		h.Paths = nested(keys["places"], len(h.Levels))
	default:
		f.Fail("", "give places, or a file or a public table of places that has a column for each level")
	}
	if len(h.Paths) > 0 {
		if _, err := h.tree(); err != nil {
			f.Fail("", "%v", err)
		}
	}
	return h
}

// columns returns the columns of a CSV file whose names are those of the levels. A row may repeat.
func columns(f policy.Field, rows [][]string, levels []string) (out [][]string) {
	if len(rows) < 2 {
		f.Fail("", "the file has no row below its header")
		return nil
	}
	at := make([]int, len(levels))
	for i, l := range levels {
		if at[i] = slices.Index(rows[0], l); at[i] < 0 {
			f.Fail("", "the file has no column %q", l)
			return nil
		}
	}
	for _, row := range rows[1:] {
		path := make([]string, len(levels))
		for i, c := range at {
			path[i] = row[c]
		}
		out = append(out, path)
	}
	return distinct(out)
}

// distinct returns the paths without those that repeat earlier ones.
func distinct(paths [][]string) (out [][]string) {
	seen := map[string]bool{}
	for _, path := range paths {
		if text := fmt.Sprintf("%q", path); !seen[text] {
			seen[text] = true
			out = append(out, path)
		}
	}
	return out
}

// nested reads places that are written as mappings from the coarsest level down to lists of the finest one.
func nested(f policy.Field, depth int) (out [][]string) {
	if depth == 1 {
		for _, text := range texts(f) {
			for _, place := range expanded(f, text) {
				out = append(out, []string{place})
			}
			if len(out) > table.MaxNodes {
				f.Fail("", "there are more than %d places", table.MaxNodes)
				return nil
			}
		}
		return out
	}
	for _, e := range f.Entries() {
		for _, path := range nested(e, depth-1) {
			out = append(out, append(path, e.Name()))
		}
		if len(out) > table.MaxNodes {
			f.Fail("", "there are more than %d places", table.MaxNodes)
			return nil
		}
	}
	return out
}

// tree returns the hierarchy of nodes, with the level of all places if it has a name.
func (h *Hierarchy) tree() (*table.Hierarchy, error) {
	if h.Total == "" {
		return table.NewHierarchy(h.Levels, h.Paths)
	}
	paths := make([][]string, len(h.Paths))
	for i, p := range h.Paths {
		paths[i] = append(slices.Clone(p), h.Total)
	}
	return table.NewHierarchy(append(slices.Clone(h.Levels), h.Total), paths)
}

// levels refuses names of levels that two hierarchies share, because a table names its levels alone.
func (s *Spec) levels(f policy.Field) {
	seen := map[string]string{}
	for _, h := range s.Hierarchies {
		for _, l := range slices.Concat(h.Levels, []string{h.Total}) {
			if first, again := seen[l]; again && l != "" {
				f.Fail("", "the level %q is in %s and in %s", l, first, h.Name)
			}
			seen[l] = h.Name
		}
	}
}

// hierarchyOf returns the hierarchy with the level, or nil.
func (s *Spec) hierarchyOf(level string) *Hierarchy {
	i := slices.IndexFunc(s.Hierarchies, func(h Hierarchy) bool {
		return level != "" && (h.Total == level || slices.Contains(h.Levels, level))
	})
	if i < 0 {
		return nil
	}
	return &s.Hierarchies[i]
}

// over returns the tree of places whose leaves are the known values of the key, in their order.
func (h *Hierarchy) over(values []any) (*table.Hierarchy, error) {
	paths, own := map[string][]string{}, *h
	for _, p := range h.Paths {
		paths[p[0]] = p
	}
	own.Paths = nil
	var missing []string
	for _, v := range values {
		text := label(v)
		p, ok := paths[text]
		switch {
		case ok:
		case v == nil: // rows without a place are in a place of their own, in every level
			p = slices.Repeat([]string{text}, len(h.Levels))
		default:
			missing = append(missing, text)
			continue
		}
		own.Paths = append(own.Paths, p)
		delete(paths, text)
	}
	if len(missing) > 0 {
		return nil, misuse("add them to the hierarchy", "the hierarchy %s lacks %s of %s: %s", h.Name,
			counted(len(missing), "value"), h.Key, few(missing))
	}
	if len(paths) > 0 {
		var extra []string
		for _, p := range h.Paths {
			if _, left := paths[p[0]]; left {
				extra = append(extra, p[0])
			}
		}
		return nil, misuse("the policy declares the values of a column", "the hierarchy %s has %s that %s cannot have: %s", h.Name,
			counted(len(extra), "place"), h.Key, few(extra))
	}
	tree, err := own.tree()
	if err != nil {
		return nil, misuse("", "hierarchy %s: %v", h.Name, err)
	}
	return tree, nil
}

// few lists the first of some texts.
func few(texts []string) string {
	const most = 3
	if len(texts) <= most {
		return fmt.Sprintf("%q", texts)
	}
	return fmt.Sprintf("%q, …", texts[:most])
}

// levelsOf returns the indices of a table's levels in the group's hierarchy. A table without rows has the coarsest
// level, which must have one node.
func (g *group) levelsOf(s *Spec, table int) ([]int, error) {
	t, h := &s.Tables[table], g.space.Hierarchy
	if len(t.Rows) == 0 {
		top := len(h.Levels) - 1
		if h.Nodes(top) != 1 {
			return nil, misuse("give the hierarchy a total, such as total: country",
				"table %s has no rows, and %s has no level of all places", t.Name, g.places.Name)
		}
		return []int{top}, nil
	}
	var out []int
	for _, name := range t.Rows {
		out = append(out, h.Level(name))
	}
	return out, nil
}

// declared collects the declared totals of the policy and of the specification, and checks them against each other.
func (g *group) declared(s *Spec) error {
	g.fixed = map[[2]int]int64{}
	h := g.space.Hierarchy
	g.ofPolicy(g.known)
	for _, i := range g.tables {
		for _, total := range s.Tables[i].Totals {
			l := h.Level(total.Level)
			node := slices.Index(h.Levels[l].Labels, total.Place)
			if node < 0 {
				return misuse("", "table %s declares the total of %s %q, which does not exist", s.Tables[i].Name, total.Level, total.Place)
			}
			at := [2]int{l, node}
			if before, again := g.fixed[at]; again && before != total.Value {
				return misuse("", "the total of %s %q is declared as %d and as %d", total.Level, total.Place, before, total.Value)
			}
			g.fixed[at] = total.Value
		}
	}
	if err := table.CheckFixed(h, g.fixed, true); err != nil {
		return misuse("correct the declared totals", "%v", err)
	}
	return nil
}

// ofPolicy collects the totals of the policy that hold for the group's rows: of all rows, and of values of the key of the
// places.
func (g *group) ofPolicy(totals []curator.KnownTotal) {
	h := g.space.Hierarchy
	top := len(h.Levels) - 1
	for _, total := range totals {
		switch {
		case total.Key < 0 && h.Nodes(top) == 1:
			g.fixed[[2]int{top, 0}] = total.Count
		case total.Key == 0 && g.places != nil:
			g.fixed[[2]int{0, total.Value}] = total.Count
		}
	}
}
