package value_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dither/internal/value"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		kind value.Type
		text string
		want value.Value
	}{
		{value.Integer, "0", value.OfInt(0)},
		{value.Integer, "-0", value.OfInt(0)},
		{value.Integer, "+007", value.OfInt(7)},
		{value.Integer, "9223372036854775807", value.OfInt(math.MaxInt64)},
		{value.Integer, "-9223372036854775808", value.OfInt(math.MinInt64)},
		{value.Real, "-1.5e3", value.OfReal(-1500)},
		{value.Real, ".5", value.OfReal(.5)},
		{value.Real, "1e400", value.OfReal(math.Inf(1))},
		{value.Real, "-1e999999999", value.OfReal(math.Inf(-1))},
		{value.Real, "1e-999999999", value.OfReal(0)},
		{value.Real, "-iNFinity", value.OfReal(math.Inf(-1))},
		{value.Text, "", value.OfText("")},
		{value.Text, "naïve ✓", value.OfText("naïve ✓")},
		{value.Text, strings.Repeat("x", value.MaxTextBytes), value.OfText(strings.Repeat("x", value.MaxTextBytes))},
		{value.Boolean, "TRUE", value.OfBool(true)},
		{value.Boolean, "F", value.OfBool(false)},
		{value.Boolean, "0", value.OfBool(false)},
		{value.Date, "1970-01-01", value.OfDay(0)},
		{value.Date, "1969-12-31", value.OfDay(-1)},
		{value.Date, "0001-01-01", value.OfDay(value.MinDay)},
		{value.Date, "9999-12-31", value.OfDay(value.MaxDay)},
		{value.Date, "2024-02-29", value.OfDay(19782)},
	} {
		got, err := value.Parse(c.kind, c.text)
		if err != nil || got != c.want {
			t.Errorf("Parse(%v, %q) = %+v, %v; want %+v", c.kind, c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"NaN", "nan", "-nan", "+NaN"} {
		if v, err := value.Parse(value.Real, text); err != nil || !math.IsNaN(v.Real) {
			t.Errorf("Parse(real, %q) = %v, %v", text, v, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for kind, texts := range map[value.Type][]string{
		value.Integer: {"", " 1", "1 ", "1.0", "1e3", "0x10", "1_000", "9223372036854775808", "٣", "--1", "NaN", "true"},
		value.Real:    {"", " 1", "1,5", "0x1p3", "1_000.5", "1e", ".", "e5", "infin", "nan(1)", "--nan", "1/2"},
		value.Text:    {"\xff", "a\x00b", strings.Repeat("x", value.MaxTextBytes+1)},
		value.Boolean: {"", "yes", "no", "on", "2", "truth", "true ", "01"},
		value.Date: {
			"", "2024-2-1", "2023-02-29", "0000-01-01", "10000-01-01", "-001-01-01", "2024-01-01T00:00:00Z", "2024/01/01",
			"24-01-01", "2024-13-01", "2024-01-32", "2024-01-00", "+2024-01-01",
		},
		value.Type(0): {"", "1"},
	} {
		for _, text := range texts {
			if v, err := value.Parse(kind, text); !errors.Is(err, value.ErrSyntax) {
				t.Errorf("Parse(%v, %q) = %+v, %v; want ErrSyntax", kind, text, v, err)
			}
		}
	}
}

func TestTypesReadTheirNames(t *testing.T) {
	for k := value.Integer; k <= value.Interval; k++ {
		if got, ok := value.ParseType(k.String()); !ok || got != k {
			t.Errorf("ParseType(%q) = %v, %v", k, got, ok)
		}
	}
	if _, ok := value.ParseType("Integer"); ok {
		t.Error("type names are lower case")
	}
	if got := value.Type(9).String(); got != "Type(9)" {
		t.Errorf("String of no type: %s", got)
	}
}

// anyValue draws values of a type that occur after cleaning: no NaN.
func anyValue(kind value.Type) *rapid.Generator[value.Value] {
	return rapid.Custom(func(t *rapid.T) value.Value {
		if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
			return value.NullOf(kind)
		}
		switch kind {
		case value.Integer:
			return value.OfInt(rapid.Int64().Draw(t, "n"))
		case value.Real:
			return value.OfReal(rapid.Float64().Draw(t, "x"))
		case value.Text:
			return value.OfText(rapid.StringMatching(`[^\x00]{0,8}`).Draw(t, "s"))
		case value.Boolean:
			return value.OfBool(rapid.Bool().Draw(t, "b"))
		case value.Timestamp:
			return value.OfMicro(rapid.Int64Range(value.MinMicro, value.MaxMicro).Draw(t, "micro"))
		case value.Time:
			return value.Value{Type: value.Time, Int: rapid.Int64Range(0, value.DayMicros-1).Draw(t, "micro")}
		default:
			return value.OfDay(rapid.Int64Range(value.MinDay, value.MaxDay).Draw(t, "day"))
		}
	})
}

func TestStringIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := value.Type(rapid.IntRange(int(value.Integer), int(value.Time)).Draw(t, "type"))
		v := anyValue(kind).Filter(func(v value.Value) bool { return !v.Null }).Draw(t, "value")
		got, err := value.Parse(kind, v.String())
		if err != nil || value.Compare(got, v) != 0 {
			t.Fatalf("Parse(%q) = %+v, %v; want %+v", v.String(), got, err, v)
		}
	})
}

func TestCompareIsATotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := value.Type(rapid.IntRange(int(value.Integer), int(value.Time)).Draw(t, "type"))
		a, b, c := anyValue(kind).Draw(t, "a"), anyValue(kind).Draw(t, "b"), anyValue(kind).Draw(t, "c")
		if value.Compare(a, b) != -value.Compare(b, a) {
			t.Fatal("not antisymmetric")
		}
		if value.Compare(a, b) <= 0 && value.Compare(b, c) <= 0 && value.Compare(a, c) > 0 {
			t.Fatal("not transitive")
		}
		if a.Null && !b.Null && value.Compare(a, b) != 1 {
			t.Fatal("NULL is last")
		}
	})
}

// Day numbers agree with the calendar arithmetic of package time, day by day over the leap years that matter.
func TestDays(t *testing.T) {
	for _, year := range []int{1, 4, 100, 400, 1582, 1900, 1970, 2000, 2100, 9999} {
		day := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		for ; day.Year() == year; day = day.AddDate(0, 0, 1) {
			v, err := value.Parse(value.Date, day.Format("2006-01-02"))
			if err != nil || v.Int*86400 != day.Unix() || v.String() != day.Format("2006-01-02") {
				t.Fatalf("%v: %+v, %v", day, v, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "-nan", "1e400", "2024-02-29", "true", "\x00", "2024-02-29 12:00:00.5", "23:59"} {
		f.Add(1, s)
	}
	f.Fuzz(func(t *testing.T, kind int, text string) {
		v, err := value.Parse(value.Type(kind), text)
		if err != nil {
			if v != (value.Value{}) || !errors.Is(err, value.ErrSyntax) {
				t.Fatalf("%+v, %v", v, err)
			}
			return
		}
		again, err := value.Parse(value.Type(kind), v.String())
		if err != nil || v.Type != value.Type(kind) || value.Compare(v, again) != 0 {
			t.Fatalf("%q read as %+v, then %+v, %v", text, v, again, err)
		}
	})
}
