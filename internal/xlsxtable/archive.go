package xlsxtable

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"
)

// archive holds the parts of a workbook, a zip file, by name. Letters of any case name the same part.
type archive map[string]*zip.File

// maxParts bounds the memory for the list of parts.
const maxParts = 100_000

// openArchive lists the parts. They have at most MaxBytes in all, once they are decompressed.
func openArchive(text []byte) (archive, error) {
	if bytes.Count(text, []byte("PK\x01\x02")) > maxParts { // each entry of the list begins with it
		return nil, damaged()
	}
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, damaged()
	}
	parts, left := archive{}, uint64(MaxBytes)
	for _, f := range z.File {
		if f.UncompressedSize64 > left { // a part that is longer than it says fails when it is read
			return nil, tooLarge()
		}
		left -= f.UncompressedSize64
		name := partName(f.Name)
		if parts[name] != nil {
			return nil, damaged()
		}
		parts[name] = f
	}
	return parts, nil
}

func partName(name string) string { return strings.ToLower(strings.ReplaceAll(name, `\`, "/")) }

// part returns the content of a part.
func (a archive) part(name string) (text []byte, ok bool) {
	f := a[partName(name)]
	if f == nil {
		return nil, false
	}
	in, err := f.Open()
	if err != nil {
		return nil, false
	}
	defer in.Close()                          //nolint:errcheck // it is only read
	text = make([]byte, f.UncompressedSize64) // openArchive bounds it
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, false
	}
	_, err = io.ReadFull(in, make([]byte, 1)) // the end, where the checksum is compared
	return text, errors.Is(err, io.EOF)
}

// decode reads the XML of a part with at most maxElements.
func (a archive) decode(name string, to any) error {
	text, ok := a.part(name)
	if !ok {
		return damaged()
	}
	d := xml.NewTokenDecoder(newTokens(text, maxElements))
	err := d.Decode(to)
	for err == nil {
		_, err = d.Token()
	}
	if !errors.Is(err, io.EOF) {
		return damaged()
	}
	return nil
}

// relations are the references of a part to others.
type relations []relation

type relation struct{ id, kind, part string }

// relations returns the references of a part to others in the package, or those of the package itself for "". It leaves
// out kinds that the standard for workbooks does not define.
func (a archive) relations(of string) (out relations, err error) {
	var found struct {
		Relationship []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
			Type   string `xml:"Type,attr"`
			Mode   string `xml:"TargetMode,attr"`
		}
	}
	folder, name := path.Split(of)
	if err := a.decode(folder+"_rels/"+name+".rels", &found); err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, r := range found.Relationship {
		if ids[r.ID] {
			return nil, damaged()
		}
		ids[r.ID] = true
		kind, is := strings.CutPrefix(r.Type, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/")
		if !is { // in "Strict" workbooks
			kind, is = strings.CutPrefix(r.Type, "http://purl.oclc.org/ooxml/officeDocument/relationships/")
		}
		if !is || r.Mode == "External" {
			continue
		}
		part := path.Join("/", folder, r.Target)
		if strings.HasPrefix(r.Target, "/") {
			part = path.Clean(r.Target)
		}
		out = append(out, relation{r.ID, kind, part[1:]})
	}
	return out, nil
}

// only returns the part that the references of a kind name, or "" if there is no reference.
func (r relations) only(kind string) (part string, err error) {
	for _, x := range r {
		if x.kind != kind {
			continue
		}
		if part != "" {
			return "", damaged()
		}
		part = x.part
	}
	return part, nil
}
