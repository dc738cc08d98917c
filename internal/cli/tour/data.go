package tour

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/town"
	"dither/internal/town/parquet"
)

// defaultTown is the default name of a town's folder.
const defaultTown = "town"

// runDemoData creates a home with a made-up town.
func runDemoData(s *console.Console, args []string) error {
	rows, seed, format, folder := int64(0), uint64(1), string(town.CSV), defaultTown
	s.Flag(&rows, "rows", "N", "the number of people in the town")
	s.Flag(&seed, "seed", "S", "the seed of the made-up people (default 1): the same seed and size make the same files")
	s.Flag(&format, "format", "FORMAT", "csv or parquet (default csv)")
	s.Flag(&folder, "out", "DIR", "the folder to create (default town)")
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) > 0 || folder == "" {
		return console.Usage("demo data --rows N [--seed S] [--format csv|parquet] [--out DIR]")
	}
	if f := town.Format(format); f != town.CSV && f != town.Parquet {
		return console.Usage("--format must be csv or parquet, not %q", format)
	}
	t, err := town.New(rows, seed)
	if err != nil {
		return console.Usage("--rows must be the number of people: %v", err)
	}
	people, visits, err := build(t, town.Format(format), folder)
	if err != nil {
		return err
	}
	s.Print("created the home %s of a made-up town: %s and %s\n",
		render.Printable(filepath.Clean(folder)), rowsOf("people", people), rowsOf("visits", visits))
	return nil
}

func rowsOf(table string, n int64) string {
	return fmt.Sprintf("%s (%s)", table, render.Plural(int(n), "row"))
}

// build creates a folder as the home of a town, with its data and policy, and returns the numbers of rows of its
// tables. The folder must not exist. After an error, build removes the folder. It writes the policy last, because a
// folder without a policy is no home yet.
func build(t town.Town, format town.Format, folder string) (people, visits int64, err error) {
	// a relative path could begin with ~, which the engine would replace by the user's folder
	if folder, err = filepath.Abs(folder); err != nil {
		return 0, 0, err
	}
	if err := os.Mkdir(folder, 0o700); errors.Is(err, fs.ErrExist) {
		return 0, 0, &curator.Error{
			Code: curator.CodeHome, Message: folder + " exists already and was not changed",
			Hint: "name another folder by --out DIR",
		}
	} else if err != nil {
		return 0, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	if err := curator.Init(folder); err != nil {
		return 0, 0, err
	}
	if format == town.Parquet {
		people, visits, err = parquet.Write(context.Background(), t, folder)
	} else {
		people, visits, err = writeTown(t, folder)
	}
	if err != nil {
		return 0, 0, err
	}
	return people, visits, writeNew(filepath.Join(folder, "policy.yaml"), []byte(t.Policy(format)))
}

func writeTown(t town.Town, folder string) (people, visits int64, err error) {
	if people, err = stream(filepath.Join(folder, "people.csv"), t.WritePeople); err != nil {
		return 0, 0, err
	}
	visits, err = stream(filepath.Join(folder, "visits.csv"), t.WriteVisits)
	return people, visits, err
}

// stream creates a file, fills it with write, and returns its number of rows.
func stream(name string, write func(io.Writer) (int64, error)) (rows int64, err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	rows, err = write(f)
	return rows, errors.Join(err, f.Close())
}
