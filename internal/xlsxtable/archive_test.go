package xlsxtable

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"strings"
	"testing"

	"dither/internal/policy"
	"dither/internal/value"
)

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
	for _, name := range []string{
		"xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/styles.xml", "xl/worksheets/sheet1.xml",
	} {
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
	// The checksum is another one.
	out.Reset()
	z = zip.NewWriter(&out)
	part, err = z.CreateRaw(&zip.FileHeader{
		Name: "a", Method: zip.Store, UncompressedSize64: 1, CompressedSize64: 1, CRC32: 7,
	})
	if err == nil {
		_, err = part.Write([]byte("x"))
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	if parts, err = openArchive(out.Bytes()); err != nil {
		t.Fatal(err)
	}
	if text, ok := parts.part("a"); ok {
		t.Errorf("%q is read despite its checksum", text)
	}
	if _, err := openArchive(append(bytes.Repeat([]byte("PK\x01\x02"), maxParts), out.Bytes()...)); err == nil {
		t.Error("a list of many parts is read")
	}
}
