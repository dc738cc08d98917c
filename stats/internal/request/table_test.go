package request

import (
	"testing"

	"dither/curator"
)

// A unit, or a person, with several rows has rows that are not independent.
func TestManyRows(t *testing.T) {
	for _, x := range []struct {
		of   curator.Unit
		want bool
	}{
		{curator.Unit{MaxRows: 1}, false},
		{curator.Unit{}, false},
		{curator.Unit{MaxRows: 1, PersonRows: 1}, false},
		{curator.Unit{MaxRows: 1, PersonRows: 5}, true},
		{curator.Unit{Column: "id", MaxRows: 1}, false},
		{curator.Unit{Column: "id", MaxRows: 3}, true},
		{curator.Unit{Column: "id", MaxGroups: 2}, true},
	} {
		if got := ManyRows(x.of); got != x.want {
			t.Errorf("%+v: %t", x.of, got)
		}
	}
}
