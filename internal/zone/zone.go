// Package zone reads the rules of time zones from a copy of the IANA time zone database inside the program, and never
// from the computer. So a zone's name means the same on every computer, and an answer does not depend on where it is
// computed.
//
// zoneinfo.zip is the file lib/time/zoneinfo.zip of the Go distribution. Its data are in the public domain.
package zone

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

//go:embed zoneinfo.zip
var database []byte

// ErrUnknown reports that the database has no zone of a name.
var ErrUnknown = errors.New("there is no such time zone")

// largest bounds the size of one zone's rules, in bytes. The largest in the database has about 4 KiB.
const largest = 1 << 16

var known sync.Map // the zones loaded so far, by name

// Load returns the zone with a name of the database, such as Europe/London. The same name always gives the same pointer.
func Load(name string) (*time.Location, error) {
	if at, ok := known.Load(name); ok {
		return at.(*time.Location), nil
	}
	files, err := zip.NewReader(bytes.NewReader(database), int64(len(database)))
	if err != nil {
		return nil, err
	}
	for _, f := range files.File {
		if f.Name != name || strings.HasSuffix(name, "/") {
			continue
		}
		at, err := read(name, f)
		if err != nil {
			return nil, err
		}
		first, _ := known.LoadOrStore(name, at)
		return first.(*time.Location), nil
	}
	return nil, ErrUnknown
}

func read(name string, f *zip.File) (*time.Location, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	rules, err := io.ReadAll(io.LimitReader(in, largest))
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, rules)
}
