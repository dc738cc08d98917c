package render

import (
	"strings"
	"testing"
)

// A file gets what a key is, quoted as CSV has it; a terminal nothing that it would obey.
func TestCSVDoesNotSteerTerminals(t *testing.T) {
	records := [][]string{{"k", "count"}, {"a\x1b[2J\u202eb", "1"}, {"two\nlines, and \"quotes\"", "2"}}
	for terminal, want := range map[bool]string{
		false: "k,count\na\x1b[2J\u202eb,1\n\"two\nlines, and \"\"quotes\"\"\",2\n",
		true:  "k,count\na·[2J·b,1\n\"two·lines, and \"\"quotes\"\"\",2\n",
	} {
		var b strings.Builder
		if err := WriteCSV(&b, terminal, records); err != nil || b.String() != want {
			t.Errorf("terminal %t: %q, %v", terminal, b.String(), err)
		}
	}
}
