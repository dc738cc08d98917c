package enginetest

// aimsAtUnits returns aims at the spreads of variances, and at sums of vectors without a count, over a declared number of
// units: one value moves from one end of the range to the other, and all others are at the first end.
func aimsAtUnits() []aim {
	five := []string{"unit: row,", "unit: row, units: 5,"}
	return []aim{
		{
			at: "the variance of a declared number of integers", change: true, edit: five,
			rows: map[string][2]string{"t": {"j=0 *5", "j=0 *4; j=1000000000000"}},
			questions: plainly(
				"SELECT VAR_SAMP(j) FROM t", "SELECT STDDEV_POP(j), COUNT(*) FROM t", "SELECT VAR_POP(j), AVG(y) FROM t",
				"SELECT VAR_POP(j, contribution_bounds_per_row => (5, 71)) FROM t",
			),
		},
		{
			at: "the variance of a declared number of reals", change: true, edit: five,
			rows:      map[string][2]string{"t": {"y=1000 *5", "y=1000 *4; y=0.001"}},
			questions: plainly("SELECT VARIANCE(y) FROM t", "SELECT STDDEV(y * 2 + 1) FROM t", "SELECT VAR_SAMP(y), AVG(y) FROM t"),
		},
		{
			at: "the vectors of a declared number of rows", change: true, edit: five,
			rows: map[string][2]string{"t": {"y=1000 j=0 *5", "y=1000 j=0 *4; y=0.001 j=1000000000000"}},
			questions: []question{
				coordinate("SELECT y FROM t"), coordinate("SELECT j FROM t"), coordinate("SELECT y - 500 FROM t"),
				pairOfCoordinates("SELECT y, y - 500 FROM t"), pairOfCoordinates("SELECT y - 500, CAST(j AS double precision) / 1e9 FROM t"),
			},
		},
		{
			at: "the variance of values, one of which may be missing", change: true, edit: five,
			rows:      map[string][2]string{"t": {"j=1000000000000 *5", "j=1000000000000 *4; j=NULL"}},
			questions: plainly("SELECT VAR_SAMP(j) FROM t"),
		},
		{
			at: "the variance of a declared number of persons", change: true,
			edit: []string{ofPersons, "rows_per_unit: 1, units: 3"},
			rows: map[string][2]string{"p": {
				"person=1 j=0; person=2 j=0; person=3 j=0", "person=1 j=1000000000000; person=2 j=0; person=3 j=0",
			}},
			questions: plainly("SELECT VAR_SAMP(j) FROM p", "SELECT STDDEV(y), VAR_POP(j) FROM p"),
		},
	}
}
