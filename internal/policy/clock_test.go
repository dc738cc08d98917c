package policy

import (
	"strings"
	"testing"
	"time"

	"dither/internal/value"
)

const clockPolicy = `
version: 1
population: {name: clocks}
budget: {epsilon: 1}
price: {default: 0.1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {ts: {type: timestamp}}}}
`

func TestClockGrainTruncatesTheCurrentTime(t *testing.T) {
	at := time.Date(2026, time.August, 19, 22, 47, 31, 5000, time.UTC) // already Thursday, 00:47 in Berlin
	for grain, want := range map[string]string{
		"": "2026-08-20 00:00:00", "clock_grain: day": "2026-08-20 00:00:00", "clock_grain: minute": "2026-08-20 00:47:00",
		"clock_grain: hour": "2026-08-20 00:00:00", "clock_grain: week": "2026-08-17 00:00:00",
		"clock_grain: month": "2026-08-01 00:00:00", "clock_grain: quarter": "2026-07-01 00:00:00",
		"clock_grain: year": "2026-01-01 00:00:00",
	} {
		p, err := Decode([]byte(clockPolicy+"zone: Europe/Berlin\n"+grain+"\n"), ".")
		if err != nil {
			t.Fatalf("%s: %v", grain, err)
		}
		if got := value.OfMicro(p.Clock.Now(at)).String(); got != want {
			t.Errorf("%q: now is %s, want %s", grain, got, want)
		}
	}
}

func TestClockGrainIsInTheDigestOnlyIfItIsNotTheDefault(t *testing.T) {
	digest := func(more string) string {
		p, err := Decode([]byte(clockPolicy+more), ".")
		if err != nil {
			t.Fatal(err)
		}
		return p.Digest()
	}
	if digest("") != digest("clock_grain: day\n") {
		t.Error("writing the default changes the digest")
	}
	if digest("") == digest("clock_grain: hour\n") {
		t.Error("another grain does not change the digest")
	}
}

func TestClockGrainIsAUnit(t *testing.T) {
	for _, grain := range []string{"second", "Day", "1 day", "''", "decade"} {
		_, err := Decode([]byte(clockPolicy+"clock_grain: "+grain+"\n"), ".")
		if err == nil || !strings.Contains(err.Error(), "clock_grain") {
			t.Errorf("clock_grain: %s: %v", grain, err)
		}
	}
}
