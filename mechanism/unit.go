package mechanism

import "dither/privacy"

// Unit is the privacy unit of a mechanism that reads rows: the definition of neighbouring datasets, and the most
// rows that one unit (usually a person) may have. Under AddRemove, one of two neighbours has up to MaxRows rows
// that the other lacks. Under ChangeOne, up to MaxRows rows are replaced by up to MaxRows others.
type Unit struct {
	Neighbours privacy.Neighbours
	MaxRows    int64 // at least 1; the caller ensures that no unit has more rows
}
