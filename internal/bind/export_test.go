package bind

import (
	"maps"
	"slices"
)

// OtherFunctions returns the names of the functions for which a refusal says what to write.
func OtherFunctions() []string { return slices.Sorted(maps.Keys(otherFunctions)) }
