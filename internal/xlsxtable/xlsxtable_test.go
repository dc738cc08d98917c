package xlsxtable

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/internal/csvtable"
	"dither/internal/policy"
	"dither/internal/value"
)

const head = `<?xml version="1.0" encoding="UTF-8"?>`

// book is a workbook to be written, part by part.
type book struct {
	sheets  string // the elements <sheet>
	props   string
	strings string
	styles  string // the elements <xf> after the first
	sheet   string // the content of sheet1.xml
	more    map[string]string
}

// The styles of book: 1 is a date, 2 a custom date with time, 3 five digits, 4 #,##0, 5 a time.
const styles = `<xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="3"/><xf numFmtId="20"/>`

func (b book) bytes(t testing.TB) []byte {
	t.Helper()
	if b.sheets == "" {
		b.sheets = `<sheet name="Data" sheetId="1" r:id="rId1"/>`
	}
	parts := map[string]string{
		"[Content_Types].xml": head + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="xml" ContentType="application/xml"/></Types>`,
		"_rels/.rels": head + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
			`Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml": head + `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` +
			`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` + b.props +
			`<sheets>` + b.sheets + `</sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": head +
			`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" ` +
			`Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" ` +
			`Target="/xl/worksheets/sheet2.xml"/></Relationships>`,
		"xl/styles.xml": head + `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` +
			`<numFmts count="2"><numFmt numFmtId="164" formatCode="[$-407]d\.\ mmmm\ yyyy\ hh:mm"/>` +
			`<numFmt numFmtId="165" formatCode="00000"/></numFmts>` +
			`<cellXfs count="6"><xf numFmtId="0"/>` + styles + b.styles + `</cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml": b.sheet,
	}
	if b.strings != "" {
		parts["xl/sharedStrings.xml"] = head +
			`<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` + b.strings + `</sst>`
	}
	for name, text := range b.more {
		parts[name] = text
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, text := range parts {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// sheetOf is a sheet with the given rows and what follows them.
func sheetOf(rows, after string) string {
	return head + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + rows +
		`</sheetData>` + after + `</worksheet>`
}

// words is a row of inline texts.
func header(names ...string) string {
	var b strings.Builder
	for i, name := range names {
		fmt.Fprintf(&b, `<c r="%s1" t="inlineStr"><is><t>%s</t></is></c>`, letters(i), name)
	}
	return `<row r="1">` + b.String() + `</row>`
}

func column(name string, kind value.Type) *policy.Column {
	return &policy.Column{Name: name, Type: kind}
}

// all reads every row as text.
func all(t testing.TB, text []byte, s policy.Source, columns []*policy.Column) (rows []string, in *Reader, err error) {
	t.Helper()
	w, err := Open(bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	if in, err = New(w, s, columns); err != nil {
		return nil, nil, err
	}
	row := make([]value.Value, len(columns))
	for {
		err := in.Read(row)
		if errors.Is(err, io.EOF) {
			return rows, in, nil
		}
		if err != nil {
			return rows, in, err
		}
		var texts []string
		for _, v := range row {
			texts = append(texts, v.String())
		}
		rows = append(rows, strings.Join(texts, "|"))
	}
}

var withHeader = policy.Source{Format: policy.XLSX, Dialect: policy.Dialect{Header: true}}

func TestCells(t *testing.T) {
	const day = `s="1"><v>45413</v>` // 2024-05-01
	tests := []struct {
		kind value.Type
		cell string // the rest of <c r="A2"
		want string // the value, or part of the fault
	}{
		{value.Integer, `><v>12</v>`, "12"},
		{value.Integer, `><v>1.2E3</v>`, "1200"},
		{value.Integer, `><v>9007199254740993</v>`, "9007199254740993"},
		{value.Integer, `><v>1E400</v>`, "not a value of type integer"},
		{value.Integer, `><v>1E999999999</v>`, "not a value of type integer"},
		{value.Integer, `><v>1.5</v>`, "decimal point"},
		{value.Integer, ` s="4"><v>1200</v>`, "1200"},
		{value.Integer, ` t="str"><f>A1</f><v>7</v>`, "7"},
		{value.Integer, ` ` + day, "is a date"},
		{value.Integer, ` t="b"><v>1</v>`, "TRUE or FALSE"},
		{value.Integer, ` t="e"><v>#DIV/0!</v>`, "holds an error"},
		{value.Integer, `><f>1+1</f>`, "without a stored value"},
		{value.Integer, `><f>1+1</f><v>2</v>`, "2"},
		{value.Real, `><v>0.1</v>`, "0.1"},
		{value.Real, `><v>-1.5E-3</v>`, "-0.0015"},
		{value.Real, ` ` + day, "is a date"},
		{value.Text, ` t="s"><v>1</v>`, "müde & wach"},
		{value.Text, ` t="s"><v>2</v>`, "rich text"},
		{value.Text, ` t="s"><v>3</v>`, "line\r\nend"},
		{value.Text, `><v>1234</v>`, "1234"},
		{value.Text, `><v>1.5</v>`, "not whole"},
		{value.Text, ` s="3"><v>1234</v>`, "number format"},
		{value.Text, ` ` + day, "is a date"},
		{value.Text, ` t="e"><v>#N/A</v>`, "holds an error"},
		{value.Boolean, ` t="b"><v>1</v>`, "true"},
		{value.Boolean, ` t="b"><v>0</v>`, "false"},
		{value.Boolean, `><v>1</v>`, "true"},
		{value.Boolean, `><v>2</v>`, "not a value of type boolean"},
		{value.Boolean, ` t="b"><v>2</v>`, "not a value of type boolean"},
		{value.Date, ` ` + day, "2024-05-01"},
		{value.Date, ` s="1"><v>45413.5</v>`, "time of day"},
		{value.Date, `><v>45413</v>`, "without a date format"},
		{value.Date, ` s="1"><v>60</v>`, "not an existing day"},
		{value.Date, ` s="1"><v>59</v>`, "1900-02-28"},
		{value.Date, ` s="1"><v>61</v>`, "1900-03-01"},
		{value.Date, ` s="1"><v>0</v>`, "not an existing day"},
		{value.Date, ` s="1"><v>-1</v>`, "not an existing day"},
		{value.Date, ` s="1"><v>2958465</v>`, "9999-12-31"},
		{value.Date, ` s="1"><v>2958466</v>`, "not an existing day"},
		{value.Date, ` s="1"><v>1E+30</v>`, "not an existing day"},
		{value.Timestamp, ` s="2"><v>2958465.999999999</v>`, "not an existing day"}, // the nearest millisecond is in 10000
		{value.Timestamp, ` s="2"><v>2958465.9999</v>`, "9999-12-31 23:59:51.36"},
		{value.Date, ` t="d"><v>2024-05-01</v>`, "2024-05-01"},
		{value.Date, ` t="d"><v>2024-05-01T00:00:00</v>`, "2024-05-01"},
		{value.Date, ` t="inlineStr"><is><t>2024-05-01</t></is>`, "2024-05-01"},
		{value.Timestamp, ` s="2"><v>45413.520833333336</v>`, "2024-05-01 12:30:00"},
		{value.Timestamp, ` ` + day, "2024-05-01 00:00:00"},
		{value.Time, ` s="5"><v>0.520833333333333</v>`, "12:30:00"},
		{value.Time, ` s="5"><v>1.5</v>`, "has a date"},
		{value.Integer, ` s="1"/`, "NULL, but the column is not declared nullable"},
		{value.Integer, ` t="s"><v>0</v>`, "NULL, but the column is not declared nullable"}, // an empty text
	}
	for _, test := range tests {
		cell := `<c r="A2"` + test.cell + `</c>`
		if strings.HasSuffix(test.cell, "/") {
			cell = `<c r="A2"` + test.cell + `>`
		}
		text := book{
			strings: `<si><t></t></si><si><t>müde &amp; wach</t></si>` +
				`<si><r><t>rich</t></r><r><rPr/><t xml:space="preserve"> text</t></r><rPh sb="0" eb="1"><t>x</t></rPh></si>` +
				`<si><t>line_x000D_
end</t></si>`,
			sheet: sheetOf(header("a", "b")+`<row r="2">`+cell+`<c r="B2"><v>1</v></c></row>`, ""),
		}.bytes(t)
		rows, _, err := all(t, text, withHeader, []*policy.Column{column("a", test.kind)})
		if err == nil && len(rows) == 1 && rows[0] == test.want {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `row 2, column "a"`) {
			t.Errorf("%s %s: %q, %v; want %q", test.kind, test.cell, rows, err, test.want)
		}
		var fault *csvtable.Error
		if err != nil && (!errors.As(err, &fault) || len(fault.Faults) != 1) {
			t.Errorf("%s %s: the error has no list of faults: %v", test.kind, test.cell, err)
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

func TestAllFaultsAreListed(t *testing.T) {
	nullable := column("c", value.Integer)
	nullable.Nullable, nullable.Invalid = true, policy.InvalidIsNull
	text := book{sheet: sheetOf(header("b", "a", "c", "d")+
		`<row r="2"><c r="A2" t="e"><v>#N/A</v></c><c r="B2"><v>1</v></c><c r="C2" t="e"><v>#N/A</v></c></row>`+
		`<row r="3" hidden="1"><c r="A3"><v>2</v></c><c r="B3"><v>1.5</v></c><c r="C3"><v>3</v></c><c r="E3"><v>3</v></c></row>`+
		`<row r="4"><c r="A4" t="e"><v>#N/A</v></c><c r="B4"><v>7</v></c></row><row r="5"/><row r="6"><c r="A6" s="1"/></row>`,
		"")}.bytes(t)
	columns := []*policy.Column{column("a", value.Integer), column("b", value.Integer), nullable}
	_, in, err := all(t, text, withHeader, columns)
	want := "2 columns have faults:\n" +
		"- column \"a\", 1 field in row 3: the field is not a value of type integer: it has a decimal point or an exponent: " +
		"check whether the column should have type real\n" +
		"- column \"b\", 2 fields in rows 2, 4: " + isError
	if err == nil || err.Error() != want {
		t.Fatalf("%v", err)
	}
	if got := in.Invalids(); len(got) != 1 || got[0] != (csvtable.Invalid{Column: "c", Count: 1, FirstRow: 2}) {
		t.Errorf("invalid values: %v", got)
	}
	if got := strings.Join(in.Ignored(), ","); got != "d" {
		t.Errorf("ignored: %s", got)
	}
	if w := in.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], "1 rows are hidden") {
		t.Errorf("warnings: %v", w)
	}
}

func TestSheets(t *testing.T) {
	const two = `<sheet name="First" sheetId="1" r:id="rId1"/><sheet name="Second" sheetId="2" %s r:id="rId2"/>`
	rows := sheetOf(header("a")+`<row r="2"><c r="A2"><v>1</v></c></row>`, "")
	other := sheetOf(header("a")+`<row r="2"><c r="A2"><v>2</v></c></row>`, "")
	make := func(state string) []byte {
		return book{sheets: fmt.Sprintf(two, state), sheet: rows, more: map[string]string{"xl/worksheets/sheet2.xml": other}}.bytes(t)
	}
	twice := book{
		sheets: strings.Replace(fmt.Sprintf(two, ""), "Second", "First", 1), sheet: rows,
		more: map[string]string{"xl/worksheets/sheet2.xml": other},
	}.bytes(t)
	columns := []*policy.Column{column("a", value.Integer)}
	named := withHeader
	named.Table = "Second"
	for _, test := range []struct {
		text  []byte
		s     policy.Source
		wants string
	}{
		{make(""), withHeader, `the workbook has 2 sheets: declare one by source: {sheet: …}: "First", "Second"`},
		{make(""), named, "2"},
		{make(`state="hidden"`), withHeader, "1"},
		{make(`state="veryHidden"`), named, "2"},
		{twice, policy.Source{Table: "First"}, `the workbook has two sheets "First"`},
		{make(`state="hidden"`), policy.Source{Table: "second"}, `the workbook has no sheet "second": its sheets are "First" (hidden: "Second")`},
	} {
		got, _, err := all(t, test.text, test.s, columns)
		if err == nil && strings.Join(got, " ") != test.wants || err != nil && err.Error() != test.wants {
			t.Errorf("%v, %v; want %s", got, err, test.wants)
		}
	}
}

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
	tests := []struct {
		name, want string
		text       []byte
	}{
		{"no zip", "not an .xlsx workbook", []byte("a;b\n1;2\n")},
		{"password", "has a password", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")},
		{"an empty zip", "not an .xlsx workbook", []byte("PK\x05\x06" + strings.Repeat("\x00", 18))},
		{"bomb", "more than 512 MB", bomb()},
		{"cut off", "not well-formed", book{sheet: strings.TrimSuffix(sheetOf(ok+one, ""), "</sheetData></worksheet>")}.bytes(t)},
		{"garbage after rows", "not well-formed", book{sheet: sheetOf(ok+one+`<row r="3"><c r="A3"><v>2</c></row>`, "")}.bytes(t)},
		{"an entity", "not well-formed", book{sheet: `<!DOCTYPE x [<!ENTITY e "ee">]>` + sheetOf(ok+`<row r="2"><c r="A2"><v>&e;</v></c></row>`, "")}.bytes(t)},
		{"rows that fall", "do not rise", book{sheet: sheetOf(ok+one+one, "")}.bytes(t)},
		{"too many rows", "do not rise", book{sheet: sheetOf(ok+`<row r="1048577"/>`, "")}.bytes(t)},
		{"cells that fall", "do not rise", book{sheet: sheetOf(ok+`<row r="2"><c r="B2"/><c r="A2"/></row>`, "")}.bytes(t)},
		{"a cell of another row", "do not rise", book{sheet: sheetOf(ok+`<row r="2"><c r="A3"/></row>`, "")}.bytes(t)},
		{"a cell far right", "do not rise", book{sheet: sheetOf(ok+`<row r="2"><c r="ZZZZ2"/></row>`, "")}.bytes(t)},
		{"a missing text", "does not exist", book{sheet: sheetOf(ok+`<row r="2"><c r="A2" t="s"><v>5</v></c></row>`, "")}.bytes(t)},
		{"a negative text", "does not exist", book{sheet: sheetOf(ok+`<row r="2"><c r="A2" t="s"><v>-1</v></c></row>`, "")}.bytes(t)},
		{"a missing format", "does not exist", book{sheet: sheetOf(ok+`<row r="2"><c r="A2" s="99"><v>5</v></c></row>`, "")}.bytes(t)},
		{"an unknown kind", "unknown kind", book{sheet: sheetOf(ok+`<row r="2"><c r="A2" t="z"><v>5</v></c></row>`, "")}.bytes(t)},
		{"a gap", "row 2 of the sheet is empty", book{sheet: sheetOf(ok+`<row r="3"><c r="A3"><v>1</v></c></row>`, "")}.bytes(t)},
		{"a formula without a value", "formula", book{sheet: sheetOf(ok+`<row r="2"><c r="A2"><f>1+1</f><v/></c></row>`, "")}.bytes(t)},
		{"no reference", "no sheet of cells", book{sheets: `<sheet name="Data" sheetId="1" id="rId1"/>`, sheet: sheetOf(ok, "")}.bytes(t)},
		{"merged", "A2:A3 are merged", book{sheet: sheetOf(ok+one, `<mergeCells><mergeCell ref="A2:A3"/></mergeCells>`)}.bytes(t)},
		{"empty", "the sheet is empty", book{sheet: sheetOf("", "")}.bytes(t)},
		{"a title", "row 1 is the first with a cell, so it is read as the header, but it names none of the declared columns: if it " +
			"is a title, delete the rows above the header", book{sheet: sheetOf(header("Visits of 2025")+
			`<row r="3"><c r="A3" t="inlineStr"><is><t>a</t></is></c></row>`, "")}.bytes(t)},
		{"a header twice", "in columns A and C", book{sheet: sheetOf(header("a", "b", "a")+one, "")}.bytes(t)},
		{"another case", "column A differs only in case", book{sheet: sheetOf(header("A ")+one, "")}.bytes(t)},
		{"a date in the header", "number or a date", book{sheet: sheetOf(`<row r="1"><c r="A1" s="1"><v>45413</v></c></row>`, "")}.bytes(t)},
	}
	for _, test := range tests {
		_, _, err := all(t, test.text, withHeader, []*policy.Column{column("a", value.Integer)})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", test.name, err, test.want)
		}
	}
	// What lies outside the table does no harm.
	fine := book{sheet: sheetOf(ok+one, `<mergeCells><mergeCell ref="C2:D3"/></mergeCells>`)}.bytes(t)
	if rows, _, err := all(t, fine, withHeader, []*policy.Column{column("a", value.Integer)}); err != nil || len(rows) != 1 {
		t.Errorf("%v, %v", rows, err)
	}
}

// TestAsLibrariesWrite reads workbooks of openpyxl and XlsxWriter, so that the parts made by hand above are not the
// measure of themselves. One writes its texts into the cells' table, the other a format of its own for days.
func TestAsLibrariesWrite(t *testing.T) {
	note := column("note", value.Text)
	note.Nullable = true
	columns := []*policy.Column{
		note, column("urgent", value.Boolean), column("cost", value.Real), column("day", value.Date), column("person", value.Integer),
	}
	for _, name := range []string{"openpyxl.xlsx", "xlsxwriter.xlsx"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		rows, _, err := all(t, text, withHeader, columns)
		if err != nil || strings.Join(rows, ";") != "a\nb|true|12.25|2024-05-01|7;NULL|false|-0.5|2024-05-02|8" {
			t.Errorf("%s: %q, %v", name, rows, err)
		}
	}
}

// A zip file says how long each part is; none may be longer, be there twice, or be damaged.
func TestHostileArchives(t *testing.T) {
	fine := book{sheet: sheetOf(header("a")+`<row r="2"><c r="A2"><v>1</v></c></row>`, "")}
	open := func(text []byte) error {
		_, _, err := all(t, text, withHeader, []*policy.Column{column("a", value.Integer)})
		return err
	}
	if err := open(fine.bytes(t)); err != nil {
		t.Fatal(err)
	}
	fine.more = map[string]string{`XL\Workbook.xml`: ""}
	if err := open(fine.bytes(t)); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a part is there twice: %v", err)
	}
	for _, name := range []string{"xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/styles.xml", "xl/worksheets/sheet1.xml"} {
		fine.more = map[string]string{name: "<"}
		if err := open(fine.bytes(t)); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s is damaged: %v", name, err)
		}
	}
	// The part says that it has one byte, and has a million.
	var out, packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err == nil {
		_, err = w.Write(make([]byte, 1_000_000))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(&out)
	part, err := z.CreateRaw(&zip.FileHeader{
		Name: "xl/workbook.xml", Method: zip.Deflate, UncompressedSize64: 1, CompressedSize64: uint64(packed.Len()),
	})
	if err == nil {
		_, err = part.Write(packed.Bytes())
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	parts, err := openArchive(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := parts.part("xl/workbook.xml"); ok || len(text) > 1<<16 {
		t.Errorf("%d bytes of one, %t", len(text), ok)
	}
}

func TestSketchRefusesATitle(t *testing.T) {
	const second = `<row r="3"><c r="A3" t="inlineStr"><is><t>person</t></is></c><c r="B3" t="inlineStr"><is><t>cost</t></is></c></row>`
	for rows, want := range map[string]string{
		header("Visits of 2025") + second: "row 1 is the first with a cell, so it is read as the header, but has only 1 of the 2 " +
			"cells of row 3: if it is a title, delete the rows above the header",
		header("person", "cost") + second: "",
		header("person"):                  "",
	} {
		w, err := Open(bytes.NewReader(book{sheet: sheetOf(rows, "")}.bytes(t)))
		if err != nil {
			t.Fatal(err)
		}
		columns, err := w.Sketch("")
		if want == "" && (err != nil || len(columns) == 0 || columns[0].Type != value.Text) {
			t.Errorf("%v, %v", columns, err)
		}
		if want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestFormats(t *testing.T) {
	for code, want := range map[string]format{
		"General": plain, "0": plain, "@": plain, "0.00": shaped, `#,##0\ "Stück"`: shaped, `0" days"`: shaped, "[Red]0": shaped,
		"yyyy-mm-dd": dated, `[$-407]d\.\ mmmm`: dated, "[h]:mm": dated, "[hh]": dated, "mm:ss.0": dated, `\d0`: shaped,
		"ggge": dated, "gggee": dated, "[$-411]ge": dated, `[$-411]ggge"年"m"月"`: dated, "bbbb": dated, "BB": dated, "e": dated,
		"[$-804]aaaa;@": dated, "rr": dated, "0.00E+00": shaped, "##0.0e-0": shaped, "[Magenta]0": shaped,
		`General" €"`: shaped, "G/通用格式": shaped, "[<=99]0": shaped,
	} {
		if got := formatOf(164, code, true); got != want {
			t.Errorf("%s: %d, want %d", code, got, want)
		}
	}
	for id, want := range map[int]format{0: plain, 2: shaped, 14: dated, 22: dated, 37: shaped, 57: dated, 70: shaped, 71: dated} {
		if got := formatOf(id, "", false); got != want {
			t.Errorf("%d: %d, want %d", id, got, want)
		}
	}
}

func FuzzSheet(f *testing.F) {
	f.Add(header("a") + `<row r="2"><c r="A2" s="1"><v>45413</v></c></row>`)
	f.Add(header("a") + `<row><c t="b"><v>1</v></c><c t="inlineStr"><is><t>_x0041_</t></is></c></row>`)
	f.Fuzz(func(t *testing.T, rows string) {
		w := &Workbook{
			sheets: []sheet{{"Data", "data", true}}, formats: []format{plain, dated},
			part: func(string) ([]byte, bool) { return []byte(sheetOf(rows, "")), true },
		}
		in, err := New(w, withHeader, []*policy.Column{column("a", value.Date)})
		for row := make([]value.Value, 1); err == nil; {
			if err = in.Read(row); err == nil && row[0].Null {
				t.Error("NULL in a column that is not nullable")
			}
		}
		if err.Error() == "" {
			t.Errorf("an error without a message: %#v", err)
		}
	})
}
