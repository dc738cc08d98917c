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
		Releases: r.releases, Price: s.price, Remaining: r.remaining, Replayed: !r.paid, Clusters: []Cluster{},
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

const noiseAlone = "A cluster may be of noise alone: the interval of its size holds 0. Fewer clusters, or a larger " +
	"price, would tell."

// notes explains the meaning of the numbers and of their intervals.
func (s *kernelSource) notes() []string {
	notes := []string{
		"Distances are between columns scaled to -1 ... 1 by their declared bounds; rows with a NULL in one of them " +
			"are in no cluster.",
	}
	switch s.task.method {
	case MethodLloyd:
		notes = append(notes,
			"Sizes and means are of the rows nearest to each centre as it stood in the last iterations; intervals "+
				"cover noise, and neither sampling nor which rows those are.")
	case MethodGrid:
		notes = append(notes,
			"Each row counts at the middle of its cell of the grid. Intervals cover that, and the noise in the counts "+
				"of each cluster's cells, about; neither sampling nor which cells those are.")
	default:
		notes = append(notes,
			"Each row belongs to the cluster of its group. Groups whose counts may be noise alone join the cluster of "+
				"the groups nearest to them. "+
				"Intervals are about all rows of a cluster and cover the noise in its groups' counts and sums, about; "+
				"neither sampling nor which groups those are.")
	}
	if s.of.Least > 0 {
		notes = append(notes,
			"The number of clusters was chosen by what was released, at no further price: intervals are as if it had "+
				"been given.")
	}
	if s.of.Radius != "" {
		notes = append(notes,
			"Rows farther out than the radius "+s.of.Radius+" are drawn in to it: means are of the drawn rows.")
	}
	return notes
}
