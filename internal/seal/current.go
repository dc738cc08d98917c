package seal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"dither/internal/policy"
)

// ErrNotSealed reports a table without a published version.
var ErrNotSealed = errors.New("the table is not sealed yet")

// StaleError reports that the newest version was sealed under another declaration than the table's present one. It
// depends on the two declarations only, never on rows.
type StaleError struct {
	Table  string
	Number int
}

// Error tells the owner to seal again.
func (e *StaleError) Error() string {
	return fmt.Sprintf("table %q: its declaration has changed since version %d was sealed: seal it again",
		e.Table, e.Number)
}

// Current returns the newest published version of t. It never reads the source. The error is ErrNotSealed, a
// *StaleError, a *DamagedError, or that of an unreadable home.
func Current(home string, t *policy.Table) (Version, error) {
	v, err := current(home, t)
	if err != nil {
		return Version{}, err
	}
	if v.Schema != schemaDigest(t) {
		return Version{}, &StaleError{Table: t.Name, Number: v.Number}
	}
	info, err := os.Stat(v.File)
	if err != nil {
		return Version{}, v.damaged("is missing from the home: seal it again")
	}
	if info.Size() != v.Bytes {
		return Version{}, v.damaged("is damaged: seal it again")
	}
	return v, nil
}

func current(home string, t *policy.Table) (Version, error) {
	home, err := filepath.Abs(home)
	if err != nil {
		return Version{}, err
	}
	published, err := readManifest(folderOf(home, t.Name), t.Name)
	if err != nil {
		return Version{}, fmt.Errorf("table %q: %w", t.Name, err)
	}
	if len(published) == 0 {
		return Version{}, fmt.Errorf("%w: %s", ErrNotSealed, t.Name)
	}
	return published[len(published)-1], nil
}

// Recorded returns the published version of a table with this number and digest, after verifying its bytes.
func Recorded(ctx context.Context, home, table string, number int, sha256 string) (Version, error) {
	home, err := filepath.Abs(home)
	if err != nil {
		return Version{}, err
	}
	published, err := readManifest(folderOf(home, table), table)
	if err != nil {
		return Version{}, err
	}
	for _, v := range published {
		if v.Number == number && v.SHA256 == sha256 && v.Removed {
			return Version{}, v.damaged("was removed by the owner, and its contents are not known")
		}
		if v.Number == number && v.SHA256 == sha256 {
			return v, Verify(ctx, v)
		}
	}
	return Version{}, fmt.Errorf("table %q: version %d is no longer in the home as it was sealed", table, number)
}

// Likeness is the degree to which two sources are known to hold the same rows.
type Likeness int

// In increasing order. Apart: nothing known in common. MayMeet: views that may show the same rows. Same: the same
// bytes, or the same table on a server.
const (
	Apart Likeness = iota
	MayMeet
	Same
)

// Compare returns the greatest likeness between v and the published versions of a table.
func Compare(home, table string, v Version) (most Likeness, err error) {
	home, err = filepath.Abs(home)
	if err != nil {
		return Apart, err
	}
	published, err := readManifest(folderOf(home, table), table)
	for _, o := range published {
		most = max(most, likeness(o, v))
	}
	return most, err
}

func likeness(a, b Version) Likeness {
	switch {
	case slices.ContainsFunc(a.contents(), func(c string) bool { return slices.Contains(b.contents(), c) }),
		meet(a.Family, b.Family):
		return Same
	case meet(slices.Concat(a.Family, a.Shows), slices.Concat(b.Family, b.Shows)):
		return MayMeet
	}
	return Apart
}

// contents returns the digests of the files, or of the server table's rows, from which the version was made.
func (v Version) contents() []string {
	if len(v.SourceFiles) > 0 {
		return v.SourceFiles
	}
	return []string{v.SourceSHA256}
}

// Verify reads a version's file, and returns an error unless it holds the published bytes.
func Verify(ctx context.Context, v Version) error {
	f, err := os.Open(v.File)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	digest, err := digestFile(ctx, f)
	if err != nil {
		return err
	}
	if digest != v.SHA256 {
		return v.damaged("does not hold the bytes that were sealed")
	}
	return nil
}
