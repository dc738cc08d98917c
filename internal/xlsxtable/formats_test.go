package xlsxtable

import (
	"strings"
	"testing"

	"dither/internal/policy"
	"dither/internal/value"
)

func TestFormats(t *testing.T) {
	for code, want := range map[string]format{
		"General": plain, "0": plain, "@": plain, "0.00": shaped, `#,##0\ "Stück"`: shaped, `0" days"`: shaped,
		"[Red]0":     shaped,
		"yyyy-mm-dd": dated, `[$-407]d\.\ mmmm`: dated, "[h]:mm": dated, "[hh]": dated, "mm:ss.0": dated, `\d0`: shaped,
		"ggge": dated, "gggee": dated, "[$-411]ge": dated, `[$-411]ggge"年"m"月"`: dated, "bbbb": dated, "BB": dated,
		"e":             dated,
		"[$-804]aaaa;@": dated, "rr": dated, "0.00E+00": shaped, "##0.0e-0": shaped, "[Magenta]0": shaped,
		`General" €"`: shaped, "G/通用格式": shaped, "[<=99]0": shaped,
	} {
		if got := formatOf(164, code, true); got != want {
			t.Errorf("%s: %d, want %d", code, got, want)
		}
	}
	for id, want := range map[int]format{
		0: plain, 2: shaped, 14: dated, 22: dated, 37: shaped, 57: dated, 70: shaped, 71: dated,
	} {
		if got := formatOf(id, "", false); got != want {
			t.Errorf("%d: %d, want %d", id, got, want)
		}
	}
}

func TestEpoch1904(t *testing.T) {
	for _, test := range []struct {
		kind         value.Type
		serial, want string
	}{
		{value.Date, "0", "1904-01-01"},
		{value.Date, "60", "1904-03-01"},
		{value.Date, "43951", "2024-05-01"},
		{value.Date, "2957003", "9999-12-31"},
		{value.Date, "2957004", "not an existing day"},
		{value.Date, "2958465", "not an existing day"},
		{value.Date, "-1", "not an existing day"},
		{value.Timestamp, "43951.5", "2024-05-01 12:00:00"},
		{value.Timestamp, "2957003.5", "9999-12-31 12:00:00"},
		{value.Timestamp, "2957003.999999999", "not an existing day"},
		{value.Timestamp, "2957004.5", "not an existing day"},
		{value.Time, "0.5", "12:00:00"},
		{value.Time, "2957004.5", "not an existing day"},
	} {
		text := book{
			props: `<workbookPr date1904="1"/>`,
			sheet: sheetOf(header("a")+`<row r="2"><c r="A2" s="2"><v>`+test.serial+`</v></c></row>`, ""),
		}.bytes(t)
		rows, _, err := all(t, text, withHeader, []*policy.Column{column("a", test.kind)})
		if err == nil && len(rows) == 1 && rows[0] == test.want {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s: %q, %v; want %q", test.kind, test.serial, rows, err, test.want)
		}
	}
}
