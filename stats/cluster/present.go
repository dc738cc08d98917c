package cluster

import (
	"cmp"
	"encoding/json"
	"slices"
)

// present converts a result to the columns' own units.
func (s *kernelSource) present(r *result) *Result {
	out := &Result{
		Method: s.task.method, Confidence: json.Number(s.of.Confidence), Scores: r.scores, Restarts: r.restarts,
		Buckets: r.buckets, Leaves: r.leaves, Seed: s.task.seed,
		Releases: r.releases, Price: s.price, Remaining: r.remaining, Limits: r.limits, Replayed: !r.paid, Clusters: []Cluster{},
		Warnings: append([]string{}, slices.Compact(r.warnings)...), Notes: s.notes(),
	}
	for _, c := range s.columns {
		out.Columns = append(out.Columns, c.Name)
		out.Bounds = append(out.Bounds, [2]float64{c.Raw(-1), c.Raw(1)})
	}
	for _, c := range r.clusters {
		cluster := Cluster{Size: c.size}
		if c.size.Low <= 0 && c.size.Value >= 1 {
			out.Warnings = append(out.Warnings, noiseAlone)
		}
		for i, x := range c.centre {
			cluster.Centre = append(cluster.Centre, s.columns[i].rawNumber(x))
		}
		out.Clusters = append(out.Clusters, cluster)
		out.Rows += c.size.Value
	}
	slices.SortStableFunc(out.Clusters, func(a, b Cluster) int { return cmp.Compare(b.Size.Value, a.Size.Value) })
	out.Warnings = slices.Compact(out.Warnings)
	for _, centres := range r.trace {
		var raw [][]float64
		for _, c := range centres {
			at := make([]float64, len(c))
			for i, x := range c {
				at[i] = s.columns[i].Raw(x)
			}
			raw = append(raw, at)
		}
		out.Trace = append(out.Trace, raw)
	}
	return out
}

const noiseAlone = "A cluster may be only noise, because the interval of its size contains 0. Use fewer clusters or " +
	"a higher price to decide."

// notes explains the meaning of the numbers and of their intervals.
func (s *kernelSource) notes() []string {
	notes := []string{
		"Distances are between columns scaled to -1 ... 1 by their declared bounds. Rows with NULL in one of the " +
			"columns are in no cluster.",
	}
	switch s.task.method {
	case MethodLloyd:
		notes = append(notes,
			"Sizes and means describe the rows nearest to each centre in the last iterations. Intervals cover "+
				"noise, but neither sampling nor the choice of these rows.")
	case MethodGrid:
		notes = append(notes,
			"Each row counts at the middle of its grid cell. Intervals approximately cover this rounding and the "+
				"noise in the counts of each cluster's cells, but neither sampling nor the choice of these cells.")
	default:
		notes = append(notes,
			"Each row belongs to the cluster of its group. Groups whose counts may be noise alone join the cluster of "+
				"the groups nearest to them. "+
				"Intervals describe all rows of a cluster. They approximately cover the noise in the counts and "+
				"sums of its groups, but neither sampling nor the choice of these groups.")
	}
	if s.of.Least > 0 {
		notes = append(notes,
			"The number of clusters was chosen from the releases, at no further price. Intervals do not account for "+
				"this choice.")
	}
	if s.of.Radius != "" {
		notes = append(notes,
			"Rows beyond the radius "+s.of.Radius+" are moved to it, and means describe the moved rows.")
	}
	return notes
}
