package xlsxtable

import (
	"strings"
	"testing"

	"dither/internal/policy"
	"dither/internal/value"
)

func FuzzSheet(f *testing.F) {
	f.Add(header("a")+`<row r="2"><c r="A2" s="1"><v>45413</v></c></row>`, "")
	f.Add(header("a")+`<row><c t="b"><v>1</v></c><c t="inlineStr"><is><t>_x0041_</t></is></c></row>`, "")
	f.Add(header("a")+`<row r="2"><c r="A2" s="1"><v>2958465.9999999999</v></c></row>`,
		`<mergeCells><mergeCell ref="B2:A3"/></mergeCells>`)
	f.Add(header("a")+`<row r="2" hidden="1"><extLst/><c r="A2" t="d"><v>2024-05-01</v></c></row></sheetData>`, "")
	f.Add(header("a"), `<row r="2"/></worksheet><worksheet xmlns:x="x"><x:row/><!-- < -->`)
	f.Add(header("a"), `<a xmlns:b="c" b:d="e"><b:f/>`+strings.Repeat("<g>", 200))
	f.Fuzz(func(t *testing.T, rows, after string) {
		w := &Workbook{
			sheets: []sheet{{"Data", "data", true}}, formats: []format{plain, dated}, epoch: epoch(len(rows) % 2),
			part: func(string) ([]byte, bool) { return []byte(sheetOf(rows, after)), true },
		}
		in, err := New(w, withHeader, []*policy.Column{column("a", value.Date)})
		for row := make([]value.Value, 1); err == nil; {
			err = in.Read(row)
			if v := row[0]; err == nil && (v.Null || v.Int < value.MinDay || v.Int > value.MaxDay) {
				t.Errorf("%v in a column of days that is not nullable", v)
			}
		}
		if err.Error() == "" {
			t.Errorf("an error without a message: %#v", err)
		}
	})
}

func FuzzTexts(f *testing.F) {
	f.Add(`<sst><si><t>a</t></si><si><r><rPr/><t>b</t></r><rPh><t>c</t></rPh></si></sst>`)
	f.Add(`<sst><si><t>a<b/></t></si><extLst><si/></extLst></sst><sst/>`)
	f.Fuzz(func(t *testing.T, part string) {
		texts, err := sharedStrings([]byte(part))
		if err == nil && len(texts) > strings.Count(part, "si") {
			t.Errorf("%d texts of %q", len(texts), part)
		}
	})
}
