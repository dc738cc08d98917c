package draft

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"dither/internal/csvtable"
	"dither/internal/policy"
)

// separators are the common delimiters of CSV files.
const separators = ",;\t|"

// sketchCSV reads a header and guesses types from the first records, for a draft that the owner corrects. If the
// owner chose no delimiter, it refuses a header that reads as one field but contains another separator. The draft
// would have a single, meaningless column.
//
// It also returns notes about fields that look like values in another spelling.
func sketchCSV(src policy.Source, chosen bool) (columns []policy.SketchColumn, notes []string, err error) {
	err = withCSV(src, func(header []string, next func() ([]string, error)) error {
		if c := unsplit(header, src.Dialect); c != 0 && !chosen {
			return &Error{
				Message: fmt.Sprintf(
					"the header of %s is one field that contains %s: the delimiter is probably wrong",
					src.File,
					character(c),
				),
				Hint: "write --delimiter " + character(c) + ", or --delimiter ',' if the header is one name",
			}
		}
		if err := checkHeader(src.File, header); err != nil {
			return err
		}
		alike := make([]likeness, len(header))
		full := func() ([]string, error) {
			record, err := next()
			for i, field := range record {
				if field == src.Dialect.Null {
					record[i] = "" // NULL gives no evidence of a type
				}
				if err == nil && i < len(alike) {
					alike[i].see(record[i])
				}
			}
			return record, err
		}
		for i, t := range policy.GuessTypes(header, full) {
			columns = append(columns, policy.SketchColumn{Name: header[i], Type: t})
		}
		notes = spellingNotes(src.File, header, columns, alike)
		return nil
	})
	return columns, notes, err
}

// withText calls do with a reader of a source's text, decompressed if needed.
func withText(src policy.Source, do func(io.Reader) error) error {
	if info, err := os.Stat(src.File); err != nil { // checked before opening, because opening a pipe would block
		return err
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", src.File)
	}
	f, err := os.Open(src.File)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // the file was only read, so an error of Close loses nothing
	var in io.Reader = f
	if src.Dialect.Gzip {
		z, err := gzip.NewReader(f)
		if err != nil {
			return fmt.Errorf("%s: %w", src.File, err)
		}
		in = z
	}
	return do(in)
}

// withCSV calls do with a CSV source's header and a function that reads the next record. It parses leniently,
// unlike sealing.
func withCSV(src policy.Source, do func(header []string, next func() ([]string, error)) error) error {
	return withText(src, func(in io.Reader) error {
		const enough = 16 << 20
		encoding := ""
		if src.Dialect.Spelling != nil {
			encoding = src.Dialect.Spelling.Encoding
		}
		text, err := csvtable.Text(in, encoding)
		if err != nil {
			return fmt.Errorf("%s: %w", src.File, err)
		}
		r := csv.NewReader(io.LimitReader(text, enough))
		r.Comma, r.LazyQuotes, r.FieldsPerRecord = src.Dialect.Delimiter, true, -1
		header, err := r.Read()
		if err != nil {
			return &Error{Message: src.File + " has no header to draft a policy from", Hint: "its first line must name the columns"}
		}
		return do(header, r.Read)
	})
}

// unsplit returns the probable delimiter if a header reads as a single field: the separator that the field contains
// most often. It returns 0 if there is none.
func unsplit(header []string, d policy.Dialect) (found rune) {
	if len(header) != 1 {
		return 0
	}
	most := 0
	for _, c := range separators {
		if n := strings.Count(header[0], string(c)); c != d.Delimiter && n > most {
			found, most = c, n
		}
	}
	return found
}

// character writes a delimiter as the policy and the command line do.
func character(c rune) string {
	if c == '\t' {
		return "tab"
	}
	return "'" + string(c) + "'"
}

// checkHeader refuses names that a policy cannot hold. The error states their positions only, because the first
// line of a file without a header is a person's row.
func checkHeader(file string, header []string) error {
	hint := "check that the first line is a header and that --delimiter is right; if they are, rename the field in the file"
	if formatOf(file) == policy.XLSX {
		hint = "check that the first row with a cell is a header; if it is, rename the cell"
	}
	seen := map[string]int{}
	for i, name := range header {
		if !utf8.ValidString(name) {
			return &Error{
				Message: fmt.Sprintf("the header of %s: the name in field %d of %d is not valid UTF-8", file, i+1, len(header)),
				Hint:    "if a program on Windows wrote the file, write --encoding windows-1252",
			}
		}
		wrong := policy.CheckName(name)
		if wrong == "" {
			folded := strings.ToLower(name)
			if first, again := seen[folded]; again {
				wrong = fmt.Sprintf("is the same as in field %d", first+1)
				if header[first] != name {
					wrong += ", except for case"
				}
			}
			seen[folded] = i
		}
		if wrong != "" {
			return &Error{
				Message: fmt.Sprintf("the header of %s: the name in field %d of %d %s", file, i+1, len(header), wrong),
				Hint:    hint,
			}
		}
	}
	return nil
}

// oddHeader describes what is odd about names that a policy can hold, or returns "". It states their positions only, as
// checkHeader does.
func oddHeader(file string, header []string) string {
	numbers := 0
	for i, name := range header {
		if strings.TrimSpace(name) != name {
			return fmt.Sprintf("the header of %s: the name in field %d begins or ends with a blank, which questions must repeat, in "+
				"double quotes: rename it in the file", file, i+1)
		}
		if _, err := strconv.ParseFloat(name, 64); err == nil {
			numbers++
		}
	}
	if numbers == len(header) {
		return fmt.Sprintf("the names in the header of %s are all numbers: if the first line is a row, add a line of names before it", file)
	}
	return ""
}

// Doubt describes what is odd about a CSV source's header, for the owner, or returns "". It ignores read errors,
// which sealing reports.
func Doubt(t *policy.Table) (text string) {
	if t.Source.Format != policy.CSV || !t.Source.Dialect.Header {
		return ""
	}
	_ = withCSV(t.Source, func(header []string, _ func() ([]string, error)) error {
		if c := unsplit(header, t.Source.Dialect); c != 0 {
			text = fmt.Sprintf(
				"the header of %s is one field that contains %s: if that is the delimiter, declare source: {delimiter: %s}",
				t.Source.Path,
				character(c),
				character(c),
			)
		}
		return nil
	})
	return text
}
