package xlsxtable

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/internal/csvtable"
	"dither/internal/policy"
	"dither/internal/value"
)

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
