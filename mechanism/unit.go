package mechanism

import "dither/privacy"

// Unit says whose privacy a mechanism on rows keeps: it defines neighbouring data sets, and the number of rows that one
// unit of privacy (mostly a person) may have. Under AddRemove one of two neighbours has up to MaxRows rows that the
// other lacks. Under ChangeOne up to MaxRows rows are replaced by up to MaxRows others.
type Unit struct {
	Neighbours privacy.Neighbours
	MaxRows    int64 // at least 1; the caller has made sure that no unit has more
}
