package synth

// The kernel reads the cells of all keys of a join for each candidate. joinedCells bounds their number, and joinedAll
// that of all candidates together.
const joinedCells, joinedAll = 1 << 20, 1 << 23

// joinedWithin refuses a join with too many combinations of values, and bounds the number of candidates.
func (p *Plan) joinedWithin(of *view) error {
	if !of.joined {
		return nil
	}
	all := make([]int, len(p.Columns))
	for i := range all {
		all[i] = i
	}
	cells := p.domain.Cells(all...)
	if cells > joinedCells {
		return usage("name fewer --columns, or give fewer --bins or --edges",
			"the columns of %s and its join have %.3g combinations of values, and there may be %d: %v", p.Table, cells, joinedCells, p.Columns)
	}
	p.most = min(mostCandidates, int(joinedAll/cells)-1) // one is the number of rows
	return nil
}
