package bind

import (
	"maps"
	"slices"
)

// OtherFunctions returns the names of the functions for which a refusal says what to write.
func OtherFunctions() []string { return slices.Sorted(maps.Keys(otherFunctions)) }

// InnerAggregates returns the names of the aggregates over one unit's rows, and GoogleSQL's old names.
func InnerAggregates() []string {
	return slices.Concat(slices.Collect(maps.Keys(innerFunctions)), slices.Collect(maps.Keys(oldAggregates)))
}
