package csvtable

import (
	"strings"
	"testing"

	"dither/internal/value"
)

// What a field looks like is told by its shape, and never quoted.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		of         value.Type
		text, want string
	}{
		{value.Real, "17,25", "a comma"},
		{value.Integer, "17,25", "a comma"},
		{value.Real, "1.234,56", "a comma"},
		{value.Real, "1,234", "a comma"},
		{value.Real, "1,234.56", "commas between thousands"},
		{value.Integer, "1,234,567", "commas between thousands"},
		{value.Integer, "12.345.678", "points between thousands"},
		{value.Real, "12 345", "characters between thousands"},
		{value.Real, "12'345.5", "characters between thousands"},
		{value.Real, "17.25 €", "a unit"},
		{value.Integer, "17.25", "type real"},
		{value.Integer, "1e3", "type real"},
		{value.Integer, " 42", "spaces at its start or end"},
		{value.Real, "4.25 ", "spaces at its start or end"},
		{value.Date, " 2024-12-31", "spaces at its start or end"},
		{value.Integer, "   ", "only spaces"},
		{value.Integer, "", "empty"},
		{value.Real, "n/a", "a missing value"},
		{value.Integer, "#N/A", "a missing value"},
		{value.Date, "31.12.2024", "day.month.year"},
		{value.Date, "12/31/2024", "slashes"},
		{value.Date, "2024-12-31T10:00:00Z", "a time"},
		{value.Date, "2024-12-31 10:00", "a time"},
		{value.Date, "20241231", "YYYY-MM-DD"},
		{value.Date, "2024-2-31", "an existing day"},
		{value.Boolean, "ja", "yes or no"},
		{value.Boolean, "Nein", "yes or no"},
		{value.Boolean, "YES", "yes or no"},
		{value.Boolean, " true", "spaces at its start or end"},
		{value.Boolean, "maybe", ""},
		{value.Integer, "a secret", ""},
		{value.Date, "a secret", ""},
		{value.Real, strings.Repeat("1", 400) + ",5", ""},
	} {
		got := Misspelt(c.of, c.text)
		_, hint, _ := strings.Cut(got, c.of.String())
		if !strings.Contains(hint, c.want) || c.want == "" && hint != "" {
			t.Errorf("%s %q: %q, want %q", c.of, c.text, got, c.want)
		}
		if text := strings.TrimSpace(c.text); len(text) > 3 && strings.Contains(got, text) {
			t.Errorf("%q quotes %q", got, text)
		}
	}
	if got := Misspelt(value.Text, strings.Repeat("x", value.MaxTextBytes+1)); !strings.Contains(got, "longer than") {
		t.Error(got)
	}
}
