package strategies

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/strategy/tabulate"
	"dither/strategy/tabulate/parquet"
)

// write writes the files of a tabulation into the folder. Each file is replaced completely or left unchanged. If
// writing fails, the releases stay recorded, so repeating the command writes the files at no cost.
func write(s *console.Console, folder string, r *tabulate.Result) error {
	var errs []error
	file := func(name string, write func(io.Writer) error) {
		errs = append(errs, console.ReplaceFile(filepath.Join(folder, name), write))
	}
	text := func(name, content string) {
		file(name, func(w io.Writer) error { _, err := io.WriteString(w, content); return err })
	}
	for i := range r.Tables {
		t := &r.Tables[i]
		file(t.Name+".csv", func(w io.Writer) error { return render.WriteCSV(w, false, t.Records()) })
		text(t.Name+".md", markdown(t)+render.MarkdownList(foot(r, "")))
		errs = append(errs, console.ReplaceNamed(filepath.Join(folder, t.Name+".parquet"), func(temporary string) error {
			return parquet.Write(s.Context(), temporary, t)
		}))
	}
	file("tabulation.json", func(w io.Writer) error {
		json, err := r.MarshalJSON()
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n", render.PrintableJSON(json))
		}
		return err
	})
	file("report.html", func(w io.Writer) error { return report(w, r) })
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("the files could not be written: %w (%s recorded: repeat the command, free)", err,
			strings.Join(r.Releases, ", "))
	}
	return nil
}
