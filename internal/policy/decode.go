package policy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"dither/privacy"
)

// Version is the version of the policy format that Decode reads.
const Version = 1

// Load reads and checks a policy file. It resolves source paths relative to the file's folder. The error is an
// Errors whose entries name the file, or wraps an error of the file system such as fs.ErrNotExist.
func Load(file string) (*Policy, error) {
	text, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", file, err)
	}
	p, err := Decode(text, filepath.Dir(file))
	var all Errors
	if errors.As(err, &all) {
		for _, e := range all {
			e.File = file
		}
	}
	return p, err
}

// read returns the content of a file. It reads at most one byte more than Decode accepts.
func read(file string) ([]byte, error) {
	switch info, err := os.Stat(file); {
	case err != nil:
		return nil, errors.Unwrap(err) // the caller names the file
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, MaxBytes+1))
}

// Decode reads and checks the text of a policy. dir is the folder of the policy's file. Decode returns either a
// policy that satisfies every condition stated at its types, or Errors. If the text can be parsed, Errors has all
// errors in the file's order, otherwise only the first.
func Decode(text []byte, dir string) (*Policy, error) {
	r := new(reader)
	p := new(Policy)
	if root := r.parse(text); root != nil {
		r.policy(field{r: r, node: root}, dir, p)
	}
	if len(r.errs) > 0 {
		return nil, r.errs.sorted()
	}
	return p, nil
}

func (r *reader) policy(f field, dir string, p *Policy) {
	top, ok := f.keys("version", "population", "budget", "price", "limits", "analysts", "answer_delay", "zone", "clock_grain",
		"tables")
	if !ok || !r.version(f, top["version"]) {
		return
	}
	p.Population = r.population(top["population"], f)
	p.Budget = r.budget(top["budget"], f)
	p.Price = r.price(top["price"], p.Budget)
	r.allowed, r.most = p.Budget, p.Price.Maximum
	p.Limits = r.limits(top["limits"])
	p.Analysts = r.analysts(top["analysts"], p.Budget)
	p.Tables = r.tables(top["tables"], f, dir, p.Population.Neighbours)
	p.Clock = r.clock(top["zone"], top["clock_grain"], p.Tables)
	p.Delay = r.delay(top["answer_delay"], p.Tables)
	r.origins(p)
}

// version reports whether the format's version can be read. If not, no other field is read, because further errors
// would mislead.
func (r *reader) version(whole, f field) bool {
	f.need(whole, "write version: 1")
	s, ok := f.text()
	if ok && s != fmt.Sprint(Version) {
		f.fail("write version: 1", "this dither reads version %d, found %s", Version, quote(s))
	}
	return ok && s == fmt.Sprint(Version)
}

// need reports whether f is present. If not, it records the error at the key of the mapping that lacks the field, the
// parameter `in`.
func (f field) need(in field, hint string) bool {
	if !f.present() {
		if in.present() {
			in.path = f.path
			in.failKey(hint, "missing")
		}
		return false
	}
	return true
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,62}$`)

func (r *reader) population(f, whole field) (p Population) {
	f.need(whole, "")
	keys, _ := f.keys("name", "neighbours")
	keys["name"].need(f, "the people that the budget protects")
	p.Neighbours = privacy.AddRemove
	if name, ok := keys["name"].text(); ok {
		if !identifier.MatchString(name) {
			keys["name"].fail("", "must be a letter or _ followed by at most 62 letters, digits, _ or -, found %s",
				quote(name))
		}
		p.Name = name
	}
	if s, ok := keys["neighbours"].text(); ok {
		n, err := privacy.ParseNeighbours(s)
		if err != nil {
			keys["neighbours"].fail("", "must be add-remove or change-one, found %s", quote(s))
		}
		p.Neighbours = n
	}
	return p
}

// maxNameBytes is the longest name that PostgreSQL allows, in bytes.
const maxNameBytes = 63

// reservedPrefix is the prefix of the columns that sealing adds. No declared name may have it.
const reservedPrefix = "__dither_"

// name returns the key of a table or a column, and records an error if the key is not a valid name.
func (f field) name() string {
	name := f.key.Value
	if wrong := CheckName(name); wrong != "" {
		f.failKey("", "a name %s", wrong)
	}
	return name
}

// CheckName returns "" if name can be the name of a table or a column. Otherwise it returns the reason, such as
// "must not be empty".
func CheckName(name string) string {
	switch {
	case name == "":
		return "must not be empty"
	case len(name) > maxNameBytes:
		return fmt.Sprintf("may have at most %d bytes", maxNameBytes)
	case strings.HasPrefix(strings.ToLower(name), reservedPrefix):
		return "must not begin with " + reservedPrefix + ", which is dither's own"
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "must not hold control characters"
	}
	return ""
}

// unique records an error if an earlier name differs from this one only in case, because SQL ignores the case of
// unquoted names.
func (f field) unique(seen map[string]string) {
	folded := foldASCII(f.key.Value)
	if first, again := seen[folded]; again {
		f.failKey("unquoted names in SQL ignore case", "differs only in case from %s", quote(first))
		return
	}
	seen[folded] = f.key.Value
}

func foldASCII(s string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, s)
}

// maxDescription is the longest description, in bytes.
const maxDescription = 4096

func (f field) description() string {
	s, ok := f.text()
	if ok && len(s) > maxDescription {
		f.fail("", "a description may have at most %d bytes", maxDescription)
	}
	return s
}
