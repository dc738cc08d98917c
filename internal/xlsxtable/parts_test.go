package xlsxtable

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"dither/internal/policy"
	"dither/internal/value"
)

// The references of a workbook say which parts hold its texts and formats, whatever the names of other parts.
func TestReferencesNameTheParts(t *testing.T) {
	const strict = `<Relationship Id="rId9" Target="/xl/b.xml" ` +
		`Type="http://purl.oclc.org/ooxml/officeDocument/relationships/sharedStrings"/>`
	table := func(text string) string { return head + `<sst xmlns="x"><si><t>` + text + `</t></si><extLst/></sst>` }
	formats := func(id string) string {
		return `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="` + id + `"/></cellXfs></styleSheet>`
	}
	more := map[string]string{
		"xl/sharedStrings.xml": table("ill"), "xl/b.xml": table("healthy"), "xl/c.xml": `<sst xmlns="x"><si/>`,
		"xl/styles.xml": formats("14"), "xl/s.xml": formats("1"), "xl/empty.xml": "",
	}
	for _, test := range []struct{ name, refs, want string }{
		{"the usual names", refer("sharedStrings", "sharedStrings.xml") + refer("styles", "s.xml"), "ill|45413"},
		{"other names", refer("sharedStrings", "b.xml") + refer("styles", "s.xml"), "healthy|45413"},
		{"a path from the top", strict + refer("styles", "/xl/s.xml"), "healthy|45413"},
		{"dates", strict + refer("styles", "styles.xml"), "is a date"},
		{"no texts", refer("styles", "s.xml"), "a text that does not exist"},
		{"no formats", refer("sharedStrings", "b.xml"), "a format that does not exist"},
		{"two parts for texts", strict + refer("sharedStrings", "sharedStrings.xml") + refer("styles", "s.xml"), "damaged"},
		{"two parts for formats", strict + refer("styles", "s.xml") + refer("styles", "styles.xml"), "damaged"},
		{"a missing part for texts", refer("sharedStrings", "d.xml") + refer("styles", "s.xml"), "damaged"},
		{"a missing part for formats", strict + refer("styles", "d.xml"), "damaged"},
		{"texts that are cut off", refer("sharedStrings", "c.xml") + refer("styles", "s.xml"), "table of texts is damaged"},
		{"an empty part", refer("sharedStrings", "empty.xml") + refer("styles", "s.xml"), "table of texts is damaged"},
		{"one name for two", strict + strings.Replace(refer("styles", "s.xml"), `"styless.xml"`, `"rId9"`, 1), "damaged"},
		{"another standard", strings.Replace(strict, "purl.", "example.", 1) + refer("styles", "s.xml"), "does not exist"},
	} {
		text := book{refs: test.refs, more: more, sheet: sheetOf(header("a", "b")+
			`<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" s="1"><v>45413</v></c></row>`, "")}.bytes(t)
		rows, _, err := all(t, text, withHeader, []*policy.Column{column("a", value.Text), column("b", value.Integer)})
		if err == nil && strings.Join(rows, ";") == test.want || err != nil && strings.Contains(err.Error(), test.want) {
			continue
		}
		t.Errorf("%s: %q, %v; want %q", test.name, rows, err, test.want)
	}
}

// The package itself says which part is the workbook.
func TestPackageNamesTheWorkbook(t *testing.T) {
	b := book{sheet: sheetOf(header("a")+`<row r="2"><c r="A2"><v>1</v></c></row>`, ""), more: map[string]string{
		"_rels/.rels":                 `<Relationships>` + refer("officeDocument", "xl/workbook2.xml") + `</Relationships>`,
		"xl/_rels/workbook2.xml.rels": `<Relationships>` + refer("worksheet", "worksheets/other.xml") + `</Relationships>`,
		"xl/workbook2.xml": `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
			`<sheets><sheet name="Data" r:id="worksheetworksheets/other.xml"/></sheets></workbook>`,
		"xl/worksheets/other.xml": sheetOf(header("a")+`<row r="2"><c r="A2"><v>2</v></c></row>`, ""),
	}}
	rows, _, err := all(t, b.bytes(t), withHeader, []*policy.Column{column("a", value.Integer)})
	if err != nil || strings.Join(rows, " ") != "2" {
		t.Errorf("%q, %v", rows, err)
	}
}

// XML that would take memory out of proportion is refused in each part.
func TestMemoryIsBounded(t *testing.T) {
	attributes := "<a"
	for i := range maxAttributes + 1 {
		attributes += fmt.Sprintf(` a%d=""`, i)
	}
	fine := sheetOf(header("a")+`<row r="2"><c r="A2"><v>1</v></c></row>`, "%s")
	columns := []*policy.Column{column("a", value.Integer)}
	hostile := map[string]string{
		"nested too deeply":   strings.Repeat("<a>", maxDepth) + strings.Repeat("</a>", maxDepth),
		"too many attributes": attributes + "/>",
		"is too long":         "<a" + strings.Repeat(` b=""`, maxToken/5+1) + "/>",
		"document type":       "<!DOCTYPE x>",
	}
	for want, text := range hostile {
		_, _, err := all(t, book{sheet: fmt.Sprintf(fine, text)}.bytes(t), withHeader, columns)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		for _, part := range []string{
			"xl/workbook.xml", "xl/styles.xml", "xl/_rels/workbook.xml.rels", "_rels/.rels", "xl/sharedStrings.xml",
		} {
			b := book{strings: "<si/>", more: map[string]string{part: "<sst><si>" + text + "</si></sst>"}}
			if _, err := Open(bytes.NewReader(b.bytes(t))); err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("%s in %s: %v", want, part, err)
			}
		}
	}
	var styles struct{}
	for elements, want := range map[int]bool{maxElements: true, maxElements + 1: false} {
		text := "<a>" + strings.Repeat("<b/>", elements-1) + "</a>"
		parts, err := openArchive(book{more: map[string]string{"a": text}}.bytes(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := parts.decode("a", &styles); (err == nil) != want {
			t.Errorf("%d elements: %v", elements, err)
		}
	}
	sheet := "\ufeff" + fmt.Sprintf(fine, `<a b="`+strings.Repeat("x", maxToken-100)+`"/>`)
	if rows, _, err := all(t, book{sheet: sheet}.bytes(t), withHeader, columns); err != nil || len(rows) != 1 {
		t.Errorf("a long attribute: %q, %v", rows, err)
	}
}

// A token takes the memory of its bytes, so their number is bounded, whatever bytes there are between.
func TestTokensAreBounded(t *testing.T) {
	for _, form := range []string{"%s", "<!--%s-->", "<![CDATA[%s]]>", "<?a %s?>", "<!DOCTYPE %s>", `<b c="%s"/>`} {
		fill := "<>"
		if form == "%s" || form[1] == 'b' {
			fill = "xx" // a "<" begins an element there
		}
		for _, test := range []struct {
			size int
			want bool
		}{{maxToken - 100, false}, {maxToken + 2, true}} {
			text := "<a>" + fmt.Sprintf(form, strings.Repeat(fill, test.size/2)) + "<b/></a>"
			d, err := newDecoder([]byte(text)), error(nil)
			for err == nil {
				_, err = d.Token()
			}
			if got := strings.Contains(reason(err), "too long"); got != test.want {
				t.Errorf("%d bytes in %s: %v", test.size, form, err)
			}
		}
	}
}
