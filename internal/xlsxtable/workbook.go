package xlsxtable

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/xuri/excelize/v2"
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
	f, err := parse(text)
	if err != nil {
		return nil, err
	}
	w := &Workbook{part: func(name string) ([]byte, bool) {
		found, ok := f.Pkg.Load(name)
		part, _ := found.([]byte)
		return part, ok
	}}
	if err := w.read(f); err != nil {
		return nil, err
	}
	shared, ok := w.part("xl/sharedStrings.xml")
	if !ok {
		return w, nil
	}
	if w.strings, err = sharedStrings(shared); err != nil {
		return nil, fmt.Errorf("the workbook's table of texts is damaged: %w", err)
	}
	return w, nil
}

func tooLarge() error {
	return fmt.Errorf("the workbook has more than %d MB: save the sheet as a CSV file", MaxBytes>>20)
}

// parse opens the package with excelize. A hostile file must not end the program, so a panic of the library is an
// error.
func parse(text []byte) (f *excelize.File, err error) {
	defer func() {
		if recover() != nil {
			f, err = nil, damaged()
		}
	}()
	f, err = excelize.OpenReader(bytes.NewReader(text),
		excelize.Options{UnzipSizeLimit: MaxBytes, UnzipXMLSizeLimit: MaxBytes}) // equal limits: nothing goes to disk
	switch {
	case err == nil:
		return f, nil
	case strings.Contains(err.Error(), "unzip size exceeds"):
		return nil, tooLarge()
	}
	return nil, damaged() // the library's text may quote the file
}

func damaged() error { return errors.New("the file is not an .xlsx workbook, or is damaged") }

// read takes from the library what describes the workbook: the sheets, the epoch and the number formats.
func (w *Workbook) read(f *excelize.File) error {
	if f.WorkBook == nil || f.Styles == nil {
		return damaged()
	}
	targets, err := w.targets()
	if err != nil {
		return err
	}
	for _, s := range f.WorkBook.Sheets.Sheet {
		part := targets[s.ID]
		w.sheets = append(w.sheets, sheet{s.Name, part, s.State == "" || s.State == "visible"})
	}
	if p := f.WorkBook.WorkbookPr; p != nil && p.Date1904 {
		w.epoch = epoch1904
	}
	if f.Styles.CellXfs == nil {
		return nil
	}
	codes := map[int]string{}
	if f.Styles.NumFmts != nil {
		for _, n := range f.Styles.NumFmts.NumFmt {
			codes[n.NumFmtID] = n.FormatCode
		}
	}
	for _, xf := range f.Styles.CellXfs.Xf {
		id := 0
		if xf.NumFmtID != nil {
			id = *xf.NumFmtID
		}
		code, custom := codes[id]
		w.formats = append(w.formats, formatOf(id, code, custom))
	}
	return nil
}

// targets returns the names of the parts that hold the workbook's tables of cells, by their reference.
func (w *Workbook) targets() (map[string]string, error) {
	text, ok := w.part("xl/_rels/workbook.xml.rels")
	var found struct {
		Relationship []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
			Type   string `xml:"Type,attr"`
			Mode   string `xml:"TargetMode,attr"`
		}
	}
	if !ok || xml.Unmarshal(text, &found) != nil {
		return nil, damaged()
	}
	out := map[string]string{}
	for _, r := range found.Relationship {
		if !strings.HasSuffix(r.Type, "/worksheet") || r.Mode == "External" {
			continue
		}
		if out[r.ID] = path.Join("xl", r.Target); strings.HasPrefix(r.Target, "/") {
			out[r.ID] = strings.TrimPrefix(path.Clean(r.Target), "/")
		}
	}
	return out, nil
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
