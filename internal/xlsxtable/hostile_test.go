package xlsxtable

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"dither/internal/policy"
	"dither/internal/value"
)

func TestHostileWorkbooks(t *testing.T) {
	ok := header("a", "b")
	const one = `<row r="2"><c r="A2"><v>1</v></c></row>`
	bomb := func() []byte { // 600 MB in a few bytes
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		_, _ = z.CreateRaw(&zip.FileHeader{Name: "xl/worksheets/sheet1.xml", Method: zip.Deflate, UncompressedSize64: 600 << 20})
		_ = z.Close()
		return out.Bytes()
	}
	sheet := func(text string) []byte { return book{sheet: text}.bytes(t) }
	rows := func(text string) []byte { return sheet(sheetOf(ok+text, "")) }
	then := func(after string) []byte { return sheet(sheetOf(ok+one, after)) }
	long := func(between string) string { // a text of 5 MB in pieces
		return strings.Repeat(strings.Repeat("1", 1<<20)+between, 5)
	}
	tests := []struct {
		name, want string
		text       []byte
	}{
		{"no zip", "not an .xlsx workbook", []byte("a;b\n1;2\n")},
		{"password", "has a password", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")},
		{"an empty zip", "not an .xlsx workbook", []byte("PK\x05\x06" + strings.Repeat("\x00", 18))},
		{"bomb", "more than 512 MB", bomb()},
		{"cut off", "not well-formed", sheet(strings.TrimSuffix(sheetOf(ok+one, ""), "</sheetData></worksheet>"))},
		{"garbage after rows", "not well-formed", rows(one + `<row r="3"><c r="A3"><v>2</c></row>`)},
		{"an entity", "not well-formed", rows(`<row r="2"><c r="A2"><v>&e;</v></c></row>`)},
		{"rows that fall", "do not rise", rows(one + one)},
		{"too many rows", "do not rise", rows(`<row r="1048577"/>`)},
		{"cells that fall", "do not rise", rows(`<row r="2"><c r="B2"/><c r="A2"/></row>`)},
		{"a cell of another row", "do not rise", rows(`<row r="2"><c r="A3"/></row>`)},
		{"a cell far right", "do not rise", rows(`<row r="2"><c r="ZZZZ2"/></row>`)},
		{"a missing text", "does not exist", rows(`<row r="2"><c r="A2" t="s"><v>5</v></c></row>`)},
		{"a negative text", "does not exist", rows(`<row r="2"><c r="A2" t="s"><v>-1</v></c></row>`)},
		{"a missing format", "does not exist", rows(`<row r="2"><c r="A2" s="99"><v>5</v></c></row>`)},
		{"an unknown kind", "unknown kind", rows(`<row r="2"><c r="A2" t="z"><v>5</v></c></row>`)},
		{"a gap", "row 2 of the sheet is empty", rows(`<row r="3"><c r="A3"><v>1</v></c></row>`)},
		{"a formula without a value", "formula", rows(`<row r="2"><c r="A2"><f>1+1</f><v/></c></row>`)},
		{
			"no reference", "no sheet of cells",
			book{sheets: `<sheet name="Data" sheetId="1" id="rId1"/>`, sheet: sheetOf(ok, "")}.bytes(t),
		},
		{"a row behind the table", "rows outside", then(`<row r="3"><c r="A3"><v>2</v></c></row>`)},
		{"a second table", "rows outside", then(`<sheetData><row r="3"><c r="A3"><v>2</v></c></row></sheetData>`)},
		{"a second sheet", "goes on after its end", sheet(sheetOf(ok+one, "") + strings.TrimPrefix(sheetOf("", ""), head))},
		{
			"a row behind the sheet", "goes on after its end",
			sheet(sheetOf(ok+one, "") + `<row r="3"><c r="A3"><v>2</v></c></row>`),
		},
		{"a text behind the sheet", "text outside", sheet(sheetOf(ok+one, "") + "2")},
		{
			"rows in another element", "rows outside",
			sheet(`<worksheet><a><sheetData>` + ok + one + `</sheetData></a></worksheet>`),
		},
		{"no table", "no table of cells", sheet(`<worksheet/>`)},
		{"another kind of sheet", "no sheet of cells", sheet(`<chartsheet/>`)},
		{"nothing", "not well-formed", sheet(head)},
		{"a foreign row", "unknown element", rows(one + `<x:row xmlns:x="x" r="3"/>`)},
		{"a foreign cell", "unknown element", rows(`<row r="2"><x:c xmlns:x="x"><v>1</v></x:c></row>`)},
		{"a foreign value", "unknown element", rows(`<row r="2"><c r="A2"><x:v xmlns:x="x">1</x:v></c></row>`)},
		{"two values", "two values", rows(`<row r="2"><c r="A2"><v>1</v><v>2</v></c></row>`)},
		{"a value with elements", "elements inside", rows(`<row r="2"><c r="A2"><v>1<x/>2</v></c></row>`)},
		{
			"a text with elements", "elements inside",
			sheet(sheetOf(`<row r="1"><c t="inlineStr"><is><t>a<x/>b</t></is></c></row>`, "")),
		},
		{"a long text", "text is too long", rows(`<row r="2"><c t="inlineStr"><is><t>` + long("</t><t>") + `</t></is></c></row>`)},
		{"a long number", "text is too long", rows(`<row r="2"><c><v>` + long("<!---->") + `</v></c></row>`)},
		{"a number as a text", "another kind", rows(`<row r="2"><c r="A2"><is><t>1</t></is></c></row>`)},
		{"a text as a number", "another kind", rows(`<row r="2"><c r="A2" t="inlineStr"><v>1</v></c></row>`)},
		{"merged", "A2:A3 are merged", then(`<mergeCells><mergeCell ref="A2:A3"/></mergeCells>`)},
		{"merged upwards", "A2:B3 are merged", then(`<mergeCells><mergeCell ref="B3:A2"/></mergeCells>`)},
		{"merged among many", "A2:A3 are merged", then(`<mergeCells>` +
			strings.Repeat(`<mergeCell ref="Z2:Z3"/>`, 5000) + `<mergeCell ref="A2:A3"/></mergeCells>`)},
		{"no range", "merged cells cannot be read", then(`<mergeCells><mergeCell ref="A2"/></mergeCells>`)},
		{"too many ranges", "merged ranges", then(strings.Repeat(`<mergeCell ref="Z2:Z3"/>`, maxMerged+1))},
		{"empty", "the sheet is empty", sheet(sheetOf("", ""))},
		{"a title", "row 1 is the first with a cell, so it is read as the header, but it names none of the declared columns: if it " +
			"is a title, delete the rows above the header", book{sheet: sheetOf(header("Visits of 2025")+
			`<row r="3"><c r="A3" t="inlineStr"><is><t>a</t></is></c></row>`, "")}.bytes(t)},
		{"a header twice", "in columns A and C", sheet(sheetOf(header("a", "b", "a")+one, ""))},
		{"another case", "column A differs only in case", sheet(sheetOf(header("A ")+one, ""))},
		{
			"a date in the header", "number or a date",
			sheet(sheetOf(`<row r="1"><c r="A1" s="1"><v>45413</v></c></row>`, "")),
		},
	}
	for _, test := range tests {
		_, _, err := all(t, test.text, withHeader, []*policy.Column{column("a", value.Integer)})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", test.name, err, test.want)
		}
	}
	// What lies outside the table does no harm.
	const outside = `<mergeCells><mergeCell ref="C2:D3"/></mergeCells><drawing xmlns:x="x"><x:row>7</x:row></drawing>`
	got, _, err := all(t, then(outside), withHeader, []*policy.Column{column("a", value.Integer)})
	if err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
