package xlsxtable

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"io"
	"strings"
)

// archive holds the parts of a workbook, a zip file, by name. Letters of any case name the same part.
type archive map[string]*zip.File

// openArchive lists the parts. They have at most MaxBytes in all, once they are decompressed.
func openArchive(text []byte) (archive, error) {
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

func (a archive) has(name string) bool { return a[partName(name)] != nil }

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
	defer in.Close() //nolint:errcheck // it is only read
	text, err = io.ReadAll(in)
	return text, err == nil
}

// decode reads the XML of a part.
func (a archive) decode(name string, to any) error {
	text, ok := a.part(name)
	if !ok || xml.Unmarshal(text, to) != nil {
		return damaged()
	}
	return nil
}
