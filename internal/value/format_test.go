package value

import "testing"

func TestFormatsShowTimesAsPostgreSQLDoes(t *testing.T) {
	at := func(text string) int64 {
		v, err := ParseTimestamp(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v.Int
	}
	for _, c := range []struct{ time, format, want string }{ // as PostgreSQL 16 shows them
		{"2025-03-01 07:08:09.012345", "YYYY-MM", "2025-03"},
		{"2025-03-01 07:08:09.012345", "YYYY-MM-DD HH24:MI:SS.US", "2025-03-01 07:08:09.012345"},
		{"2025-03-01 07:08:09.012345", "Dy, DD Mon YYYY", "Sat, 01 Mar 2025"},
		{"2025-03-01", "Day|", "Saturday |"},
		{"2025-03-01", "FMDay|", "Saturday|"},
		{"2025-03-01", "Month YYYY", "March     2025"},
		{"2025-03-01", "FMMonth FMDD", "March 1"},
		{"2024-12-30", "IYYY-\"W\"IW", "2025-W01"},
		{"2021-01-03", "IYYY-IW", "2020-53"},
		{"2025-03-01 00:30", "HH12:MI am", "12:30 am"},
		{"2025-03-01 13:30", "HH:MI PM", "01:30 PM"},
		{"2025-03-01", "Q", "1"},
		{"0007-03-01", "YYYY", "0007"},
		{"2025-12-31", "DDD D ID WW W CC YY", "365 4 3 53 5 21 25"},
		{"2025-03-01", "MON", "MAR"},
		{"2025-03-01 07:08", "HH24:00", "07:00"},
		{"2025-03-01 14:05", "yyyy-mm-dd hh24:mi", "2025-03-01 14:05"},
	} {
		f, ok := ParseFormat(c.format)
		if !ok {
			t.Errorf("%q is no format", c.format)
			continue
		}
		if got := f.Char(at(c.time)); got != c.want {
			t.Errorf("to_char(%s, %q) is %q, want %q", c.time, c.format, got, c.want)
		}
	}
	for _, format := range []string{"", "YYY", "TZ", "DDth", "J", "\\", "é", "RM", `"open`, "YYYY FM", "IDDD", "SSSS", "Yyyy", "TMMonth"} {
		if f, ok := ParseFormat(format); ok {
			t.Errorf("%q is the format %v", format, f)
		}
	}
}

func TestFormatsReadTheirOwnTexts(t *testing.T) {
	for _, c := range []struct{ text, format, want string }{
		{"2025-01-01", "YYYY-MM-DD", "2025-01-01 00:00:00"},
		{"20250131", "YYYYMMDD", "2025-01-31 00:00:00"},
		{"31/01/2025 23:59", "DD/MM/YYYY HH24:MI", "2025-01-31 23:59:00"},
		{"2025-01-01 06:00:00.000250", "YYYY-MM-DD HH24:MI:SS.US", "2025-01-01 06:00:00.00025"},
		{"2025", "YYYY", "2025-01-01 00:00:00"},
	} {
		f, ok := ParseFormat(c.format)
		if !ok {
			t.Fatalf("%q is no format", c.format)
		}
		if got, ok := f.Read(c.text); !ok || got.String() != c.want {
			t.Errorf("%q in %q is %s (%t), want %s", c.text, c.format, got, ok, c.want)
		}
	}
	for _, c := range []struct{ text, format string }{
		{"2025-02-30", "YYYY-MM-DD"},
		{"2025-13-01", "YYYY-MM-DD"},
		{"2025-1-1", "YYYY-MM-DD"},
		{"2025-01-01 ", "YYYY-MM-DD"},
		{"25:00", "HH24:MI"},
		{"0000-01-01", "YYYY-MM-DD"},
		{"2025-01-01 24:00", "YYYY-MM-DD HH24:MI"},
		{"+025-01-01", "YYYY-MM-DD"},
	} {
		f, _ := ParseFormat(c.format)
		if got, ok := f.Read(c.text); ok {
			t.Errorf("%q in %q is %s", c.text, c.format, got)
		}
	}
}
