package zone

import (
	"testing"
	"time"
)

func TestZonesComeFromTheProgram(t *testing.T) {
	t.Setenv("ZONEINFO", "/nowhere") // time.LoadLocation would look there, and then in the computer's folders
	for name, offset := range map[string]int{"Europe/London": 3600, "America/New_York": -4 * 3600, "Asia/Kolkata": 19800} {
		at, err := Load(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, got := time.Date(2025, time.July, 1, 12, 0, 0, 0, time.UTC).In(at).Zone(); got != offset {
			t.Errorf("%s: offset %d in July 2025, want %d", name, got, offset)
		}
		again, err := Load(name)
		if err != nil || again != at || at.String() != name {
			t.Errorf("%s: loaded again as %p (%v), first as %p, named %s", name, again, err, at, at)
		}
	}
}

func TestUnknownZonesAreErrors(t *testing.T) {
	for _, name := range []string{"", "Local", "localtime", "Europe/", "Europe", "europe/london", "../Europe/London", "Moon/Crater"} {
		if at, err := Load(name); err == nil {
			t.Errorf("%q is zone %s", name, at)
		}
	}
}
