package reuse_test

import (
	"reflect"
	"testing"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// decided says of each field of what a plan is made of why Follow may say what it says: "compared" by Follow; "none" where
// Followable wants it empty; else what makes it play no part in which integers add up to a cell.
var decided = map[reflect.Type]map[string]string{
	reflect.TypeFor[plan.Plan](): {
		"Statement": "compared", "Measures": "compared", "Neighbours": "compared", "PolicyDigest": "compared",
		"Quantiles": "none", "Modes": "none", "Selection": "none", "Searches": "none", "Rows": "none", "Truncation": "a release beside the measures", "ordered": "none",
		"OrderCaps": "of quantiles and modes", "RowCaps": "of quantiles and modes",
		"Sets": "compared", "Shown": "which sets are shown", "Aggregates": "computed from releases", "Outputs": "computed from releases",
		"Having": "computed from releases", "Order": "computed from releases", "Limit": "computed from releases", "Offset": "computed from releases",
		"Price": "the noise's", "TargetError": "the price's", "OwnEpsilons": "the price's", "Declared": "the policy's, for people", "Constants": "which counts are no measures, which are compared", "Priced": "the price's",
		"Asked": "Caps has what it comes to", "Notes": "for people", "Grouped": "for people", "groupedBy": "for people",
		"OneUnit": "of unknown keys", "everyGroup": "which groups are shown", "keysAs": "Keys has what it comes to",
		"policy": "its digest is compared", "request": "what it comes to is compared",
	},
	reflect.TypeFor[bounded.Statement](): {
		"Table": "compared", "Source": "compared", "Unit": "the table's, by the policy", "Unranked": "compared",
		"Columns": "compared", "Where": "compared", "Keys": "compared", "Measures": "compared", "Caps": "compared",
		"Part": "compared", "Ordered": "none", "Chosen": "none", "Other": "none", "RowVectors": "none",
		"reads": "compared where rows have no ranks",
	},
	reflect.TypeFor[plan.Measure](): {
		"Measure": "compared", "Search": "none", "centred": "of a Search", "L1": "the noise's", "L2Squared": "the noise's", "Loss": "the noise's",
		"Noise": "the noise's", "Parameter": "the noise's", "Rounding": "the noise's", "text": "what is compared, in words", "Rows": "the policy's, for people",
	},
	reflect.TypeFor[bounded.Measure](): {
		"Kind": "compared", "X": "compared", "Grid": "compared", "Centre": "compared", "Lo": "compared", "Hi": "compared", "Cells": "compared",
		"Values": "of a kind that does not follow", "Size": "compared",
	},
	reflect.TypeFor[bounded.Expr](): {
		"Op": "compared", "Type": "compared", "Args": "compared", "Const": "compared", "Column": "compared where Derived", "Name": "compared",
		"Derived": "compared", "Text": "compared", "Range": "follows from the rest", "Nullable": "follows from the rest", "Dropped": "only adds a note", "size": "follows from the rest",
	},
	reflect.TypeFor[bounded.Key]():  {"Expr": "compared", "Values": "compared", "Open": "none", "Null": "of one that is Open"},
	reflect.TypeFor[bounded.Caps](): {"Rows": "compared", "Groups": "compared", "RowsPerGroup": "compared"},
	reflect.TypeFor[bounded.Part](): {"Column": "the policy's", "PerUnit": "the policy's", "Values": "follows from Where"},
	reflect.TypeFor[bounded.Column](): {
		"Column": "the policy's, whose version of values is compared", "Range": "the policy's", "Weight": "of a Source", "Unread": "for engines",
	},
	reflect.TypeFor[plan.Grouping](): {"Keys": "compared", "Measures": "with the set's noise", "Order": "of quantiles and modes"},
}

// A field that is new to a plan, or to its statement, is no part of what Follow compares until somebody has said why that is right.
func TestEveryFieldIsDecided(t *testing.T) {
	for of, fields := range decided {
		left := map[string]bool{}
		for name := range fields {
			left[name] = true
		}
		for i := range of.NumField() {
			name := of.Field(i).Name
			if fields[name] == "" {
				t.Errorf("%s.%s: does what follows from a release depend on it? Compare it in Follow, or want it empty in Followable, or say here why not", of, name)
			}
			delete(left, name)
		}
		for name := range left {
			t.Errorf("%s has no %s", of, name)
		}
	}
}
