package nearest

import "testing"

func TestName(t *testing.T) {
	known := []string{"people", "visits", "Age", "x", "avg"}
	for word, want := range map[string]string{
		"pepole": "people", "PEOPLE": "people", "visit": "visits", "agee": "Age", "agv": "avg", "vistis": "visits",
		"y": "", "income": "", "": "",
	} {
		if got := Name(word, known); got != want {
			t.Errorf("Name(%q) = %q, want %q", word, got, want)
		}
	}
}
