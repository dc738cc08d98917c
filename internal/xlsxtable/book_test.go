package xlsxtable

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

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
	refs    string // the references to styles and texts, if they are not the usual ones
	more    map[string]string
}

// refer is a reference of the workbook to a part.
func refer(kind, part string) string {
	const kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	return fmt.Sprintf(`<Relationship Id="%s%s" Type="%s" Target="%s"/>`, kind, part, kinds+kind, part)
}

// The styles of book: 1 is a date, 2 a custom date with time, 3 five digits, 4 #,##0, 5 a time.
const styles = `<xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="3"/><xf numFmtId="20"/>`

func (b book) bytes(t testing.TB) []byte {
	t.Helper()
	if b.sheets == "" {
		b.sheets = `<sheet name="Data" sheetId="1" r:id="rId1"/>`
	}
	if b.refs == "" {
		b.refs = refer("styles", "styles.xml")
		if b.strings != "" {
			b.refs += refer("sharedStrings", "sharedStrings.xml")
		}
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
			`Target="/xl/worksheets/sheet2.xml"/>` + b.refs + `</Relationships>`,
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

// header is a row of inline texts.
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
