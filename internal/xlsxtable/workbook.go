package xlsxtable

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MaxBytes is the largest size of a workbook in bytes, before and after decompression.
const MaxBytes = 512 << 20

// Workbook is an open workbook: its sheets, and the tables that cells refer to.
type Workbook struct {
	sheets  []sheet
	epoch   epoch
	formats []format // by the index of a cell's style
	strings []string // shared by all sheets
	part    func(name string) ([]byte, bool)
}

type sheet struct {
	name    string
	part    string // the name of its XML in the package; "" if it is not a table of cells, such as a chart
	visible bool
}

// Open reads a workbook of at most MaxBytes. It keeps the decompressed parts in memory, and writes nothing to disk.
func Open(r io.Reader) (*Workbook, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	switch {
	case len(text) > MaxBytes:
		return nil, tooLarge()
	case bytes.HasPrefix(text, []byte("\xd0\xcf\x11\xe0")):
		return nil, errors.New("the workbook has a password, or the old format .xls: save it as .xlsx without a password")
	case !bytes.HasPrefix(text, []byte("PK")):
		return nil, errors.New("the file is not an .xlsx workbook")
	}
	parts, err := openArchive(text)
	if err != nil {
		return nil, err
	}
	w := &Workbook{part: parts.part}
	texts, err := w.readParts(parts)
	if err != nil {
		return nil, damaged()
	}
	if w.strings, err = sharedStrings(texts); err != nil {
		return nil, fmt.Errorf("the workbook's table of texts is damaged: %s", reason(err))
	}
	return w, nil
}

// readParts reads the list of sheets and the formats, and returns the part with the shared texts, or nil if there is
// none. The references say which parts these are, and other parts have no meaning.
func (w *Workbook) readParts(parts archive) (texts []byte, err error) {
	top, err := parts.relations("")
	if err != nil {
		return nil, err
	}
	book, err := top.only("officeDocument")
	if err != nil {
		return nil, err
	}
	refs, err := parts.relations(book)
	if err != nil {
		return nil, err
	}
	styles, wrong := refs.only("styles")
	shared, err := refs.only("sharedStrings")
	err = errors.Join(wrong, err, w.readSheets(parts, book, refs), w.readFormats(parts, styles))
	if err != nil || shared == "" {
		return nil, err
	}
	texts, ok := parts.part(shared)
	if !ok {
		return nil, damaged()
	}
	return texts, nil
}

func tooLarge() error {
	return fmt.Errorf("the workbook has more than %d MB: save the sheet as a CSV file", MaxBytes>>20)
}

func damaged() error { return errors.New("the file is not an .xlsx workbook, or is damaged") }

// readSheets reads the list of sheets, and the day that the workbook counts from.
func (w *Workbook) readSheets(parts archive, name string, refs relations) error {
	var book struct {
		Properties struct {
			Since1904 flag `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name      string `xml:"name,attr"`
			State     string `xml:"state,attr"`
			Reference string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
			Strict    string `xml:"http://purl.oclc.org/ooxml/officeDocument/relationships id,attr"` // in "Strict" workbooks
		} `xml:"sheets>sheet"`
	}
	if err := parts.decode(name, &book); err != nil {
		return err
	}
	targets := map[string]string{}
	for _, r := range refs {
		if r.kind == "worksheet" {
			targets[r.id] = r.part
		}
	}
	for _, s := range book.Sheets {
		w.sheets = append(w.sheets, sheet{s.Name, targets[cmp.Or(s.Reference, s.Strict)], s.State == "" || s.State == "visible"})
	}
	if book.Properties.Since1904 {
		w.epoch = epoch1904
	}
	return nil
}

// flag is a boolean attribute: true, false, 1 or 0.
type flag bool

func (f *flag) UnmarshalXMLAttr(a xml.Attr) error {
	is, err := strconv.ParseBool(strings.TrimSpace(a.Value))
	*f = flag(is)
	return err
}

// readFormats reads the number formats of the styles. A workbook without styles has none.
func (w *Workbook) readFormats(parts archive, name string) error {
	if name == "" {
		return nil
	}
	var styles struct {
		Custom []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			Format int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if err := parts.decode(name, &styles); err != nil {
		return err
	}
	codes := map[int]string{}
	for _, c := range styles.Custom {
		codes[c.ID] = c.Code
	}
	for _, c := range styles.Cells {
		code, custom := codes[c.Format]
		w.formats = append(w.formats, formatOf(c.Format, code, custom))
	}
	return nil
}

// find returns the sheet with the given name. For "", it returns the only visible sheet.
func (w *Workbook) find(name string) (found sheet, err error) {
	var visible, hidden []string
	for _, s := range w.sheets {
		if s.part == "" {
			continue
		}
		if s.visible {
			visible = append(visible, fmt.Sprintf("%q", s.name))
		} else {
			hidden = append(hidden, fmt.Sprintf("%q", s.name))
		}
		if s.name == name || name == "" && s.visible {
			if name != "" && found.part != "" {
				return found, fmt.Errorf("the workbook has two sheets %q", name)
			}
			found = s
		}
	}
	list := strings.Join(visible, ", ")
	if len(hidden) > 0 {
		list += " (hidden: " + strings.Join(hidden, ", ") + ")"
	}
	switch {
	case len(visible)+len(hidden) == 0:
		return found, errors.New("the workbook has no sheet of cells")
	case name != "" && found.part == "":
		return found, fmt.Errorf("the workbook has no sheet %q: its sheets are %s", name, list)
	case name == "" && len(visible) == 0:
		return found, fmt.Errorf("all sheets are hidden: declare one by source: {sheet: …}: %s", strings.Join(hidden, ", "))
	case name == "" && len(visible) > 1:
		return found, fmt.Errorf("the workbook has %d sheets: declare one by source: {sheet: …}: %s", len(visible), list)
	}
	return found, nil
}

// Sheets returns the names of the visible sheets of cells.
func (w *Workbook) Sheets() (names []string) {
	for _, s := range w.sheets {
		if s.visible && s.part != "" {
			names = append(names, s.name)
		}
	}
	return names
}
