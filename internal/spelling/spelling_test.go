package spelling_test

import (
	"strings"
	"testing"

	"dither/internal/policy"
	"dither/internal/spelling"
	"dither/internal/value"
)

func TestValues(t *testing.T) {
	german := &policy.Spelling{
		Nulls: []string{"NA", "k.A."}, Decimal: ",", Thousands: ".", Dates: []string{"DD.MM.YYYY", "YYYYMMDD"},
		True: []string{"ja", "sí"}, False: []string{"nein"},
	}
	spaced := &policy.Spelling{Thousands: " ", Dates: []string{"D/M/YYYY"}}
	quoted := &policy.Spelling{Thousands: "'"}
	american := &policy.Spelling{Thousands: ",", Dates: []string{"M/D/YYYY"}}
	const unreadable = "unreadable"
	for _, c := range []struct {
		declared *policy.Spelling
		of       value.Type
		text     string
		want     string
	}{
		{nil, value.Integer, "12", "12"},
		{nil, value.Integer, "1.200", unreadable},
		{nil, value.Integer, "", "NULL"},
		{nil, value.Integer, " \t ", "NULL"},
		{nil, value.Integer, " 12", unreadable},
		{nil, value.Text, " ", " "},
		{nil, value.Text, "", "NULL"},
		{nil, value.Date, "2000-02-29", "2000-02-29"},
		{nil, value.Date, "29.02.2000", unreadable},
		{german, value.Real, "1.234,5", "1234.5"},
		{german, value.Real, "-1.234.567,25", "-1.23456725e+06"},
		{german, value.Real, "1234,5", "1234.5"},
		{german, value.Real, ",5", "0.5"},
		{german, value.Real, "1,5e3", "1500"},
		{german, value.Real, "2e3", "2000"},
		{german, value.Real, "1.5", unreadable},
		{german, value.Real, "1.23,5", unreadable},
		{german, value.Real, "12.34.567", unreadable},
		{german, value.Real, ".234", unreadable},
		{german, value.Real, "1234.567", unreadable},
		{german, value.Real, "1,234.5", unreadable},
		{german, value.Real, "1,2,3", unreadable},
		{german, value.Real, "1.234.", unreadable},
		{german, value.Real, "NaN", "NaN"},
		{german, value.Real, "k.A.", "NULL"},
		{german, value.Real, "1e1.000", unreadable},
		{german, value.Integer, "1.234", "1234"},
		{german, value.Integer, "1,0", unreadable},
		{german, value.Integer, "9.223.372.036.854.775.808", unreadable},
		{german, value.Date, "31.12.2024", "2024-12-31"},
		{german, value.Date, "20241231", "2024-12-31"},
		{german, value.Date, "31.2.2024", unreadable},
		{german, value.Date, "31.02.2024", unreadable},
		{german, value.Date, "2024-12-31", unreadable},
		{german, value.Date, "31.12.24", unreadable},
		{german, value.Date, "31.12.2024 ", unreadable},
		{german, value.Date, "31.12.20245", unreadable},
		{german, value.Date, "00.00.0000", unreadable},
		{german, value.Boolean, "JA", "true"},
		{german, value.Boolean, "SÍ", "true"},
		{german, value.Boolean, "Nein", "false"},
		{german, value.Boolean, "0", "false"},
		{german, value.Boolean, "oui", unreadable},
		{german, value.Text, "NA", "NULL"},
		{german, value.Text, "1.234,5", "1.234,5"},
		{spaced, value.Integer, "1\u00a0234 567\u202f890", "1234567890"},
		{spaced, value.Date, "1/2/2024", "2024-02-01"},
		{spaced, value.Date, "01/12/2024", "2024-12-01"},
		{spaced, value.Date, "1/23/2024", unreadable},
		{spaced, value.Date, "001/2/2024", unreadable},
		{quoted, value.Integer, "1’234", "1234"},
		{american, value.Real, "1,234.5", "1234.5"},
		{american, value.Real, "1.5", "1.5"},
		{american, value.Real, "1,234,5", unreadable},
		{american, value.Date, "1/23/2024", "2024-01-23"},
	} {
		s := spelling.New(policy.Dialect{Null: "", Spelling: c.declared})
		v, ok := s.Value(&policy.Column{Type: c.of}, c.text, false)
		got := v.String()
		if !ok {
			got = unreadable
		}
		if got != c.want || v.Type != c.of {
			t.Errorf("%q as %v: %s, want %s", c.text, c.of, got, c.want)
		}
	}
}

func TestTimestamps(t *testing.T) {
	const unreadable = "unreadable"
	s := spelling.New(policy.Dialect{Spelling: &policy.Spelling{Timestamps: []string{
		"D.M.YYYY hh:mm", "D.M.YYYY hh:mm:ss", "M/D/YYYY h:mm AM", "YYYYMMDDhhmmss", "DD-MM-YYYY, h:mm:ssAM",
	}}})
	for text, want := range map[string]string{
		"1.2.2024 13:05": "2024-02-01 13:05:00", "01.02.2024 13:05:59": "2024-02-01 13:05:59",
		"1.2.2024 13:05:59,25": "2024-02-01 13:05:59.25", "1.2.2024 13:05:59.": unreadable, "1.2.2024 13:05.5": unreadable,
		"1.2.2024 1:05": unreadable, "1.2.2024 24:00": unreadable, "30.2.2024 10:00": unreadable, "1.2.2024": unreadable,
		"2/1/2024 1:05 PM": "2024-02-01 13:05:00", "2/1/2024 12:00 am": "2024-02-01 00:00:00", "2/1/2024 12:30 PM": "2024-02-01 12:30:00",
		"2/1/2024 13:05 PM": unreadable, "2/1/2024 0:05 AM": unreadable, "2/1/2024 1:05 MM": unreadable, "2/1/2024 1:05  P": unreadable,
		"2/1/2024 1:05": unreadable, "20240201130559": "2024-02-01 13:05:59", "2024-02-01 13:05": unreadable,
		"01-02-2024, 1:05:59pm": "2024-02-01 13:05:59", "01-02-2024, 1:05:59.5pm": unreadable, "": "NULL", " ": "NULL",
	} {
		got := unreadable
		if v, ok := s.Value(&policy.Column{Type: value.Timestamp, Nullable: true}, text, false); ok {
			got = v.String()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Quotes matter in text columns alone, except that a text for NULL that is a value too is that value in quotes.
func TestQuotes(t *testing.T) {
	s := spelling.New(policy.Dialect{Null: "0", Spelling: &policy.Spelling{Nulls: []string{"NA"}}})
	for _, c := range []struct {
		of     value.Type
		text   string
		quoted bool
		want   string
	}{
		{value.Text, "NA", true, "NA"},
		{value.Text, "NA", false, "NULL"},
		{value.Text, "", true, ""},
		{value.Text, "", false, ""},
		{value.Integer, "NA", true, "NULL"},
		{value.Integer, "", true, "NULL"},
		{value.Integer, "0", true, "0"},
		{value.Integer, "0", false, "NULL"},
	} {
		if v, ok := s.Value(&policy.Column{Type: c.of}, c.text, c.quoted); !ok || v.String() != c.want {
			t.Errorf("%q as %v, quoted %t: %v, %t", c.text, c.of, c.quoted, v, ok)
		}
	}
}

func TestTidy(t *testing.T) {
	s := spelling.New(policy.Dialect{Null: "NA"})
	for _, c := range []struct {
		column policy.Column
		text   string
		want   string
	}{
		{policy.Column{Type: value.Text, Trim: true, Case: policy.Lower}, "\u00a0 A7 É\t", "a7 é"},
		{policy.Column{Type: value.Text, Case: policy.Upper}, " a7", " A7"},
		{policy.Column{Type: value.Text, Trim: true, Case: policy.Lower}, " NA ", "NULL"},
		{policy.Column{Type: value.Text, Trim: true, Case: policy.Lower}, "na", "na"},
		{policy.Column{Type: value.Integer, Trim: true}, " 7 ", "7"},
		{policy.Column{Type: value.Date, Trim: true}, " 2000-01-01", "2000-01-01"},
	} {
		if v, ok := s.Value(&c.column, c.text, false); !ok || v.String() != c.want {
			t.Errorf("%q: %v, %t; want %s", c.text, v, ok, c.want)
		}
	}
}

// FuzzValue: nothing panics, a value is NULL or is read back from its own text, and without a declared spelling the
// value is what value.Parse reads.
func FuzzValue(f *testing.F) {
	f.Add("1.234,5", ",", ".", "DD.MM.YYYY", byte(1), true)
	f.Add("31/1/2024", "", " ", "D/M/YYYY", byte(4), false)
	f.Add("1'234", "", "'", "YYYYMMDD", byte(0), false)
	f.Fuzz(func(t *testing.T, text, decimal, thousands, form string, of byte, trim bool) {
		c := &policy.Column{Type: value.Integer + value.Type(of%5), Trim: trim}
		plain, ok := spelling.New(policy.Dialect{}).Value(c, text, false)
		bare := text
		if trim {
			bare = strings.TrimSpace(text)
		}
		if parsed, err := value.Parse(c.Type, bare); err == nil && bare != "" && !value.Identical(parsed, plain) {
			t.Fatalf("%q is %v, and value.Parse reads %v", text, plain, parsed)
		} else if err != nil && ok && !plain.Null {
			t.Fatalf("%q is %v, and value.Parse refuses it", text, plain)
		}
		if _, wrong := policy.DateShape(form); wrong != "" {
			form = "DD.MM.YYYY"
		}
		declared := &policy.Spelling{Decimal: decimal, Thousands: thousands, Dates: []string{form}}
		v, ok := spelling.New(policy.Dialect{Spelling: declared}).Value(c, text, true)
		if !ok || v.Null {
			return
		}
		if again, err := value.Parse(c.Type, v.String()); err != nil || !value.Identical(v, again) && v.Real == v.Real {
			t.Fatalf("%q is %v, and that is read as %v", text, v, again)
		}
	})
}
