package town_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"dither/internal/csvtable"
	"dither/internal/policy"
	"dither/internal/town"
	"dither/internal/value"
)

func build(t *testing.T, people int64, seed uint64) town.Town {
	t.Helper()
	made, err := town.New(people, seed)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func files(t *testing.T, made town.Town) (people, visits []byte) {
	t.Helper()
	var p, v bytes.Buffer
	if n, err := made.WritePeople(&p); err != nil || n != made.Size() {
		t.Fatal(n, err)
	}
	if _, err := made.WriteVisits(&v); err != nil {
		t.Fatal(err)
	}
	return p.Bytes(), v.Bytes()
}

// A seed and a size make the same bytes for good, on every machine.
func TestPinned(t *testing.T) {
	people, visits := files(t, build(t, 2000, 1))
	for _, c := range []struct {
		name, want string
		text       []byte
	}{
		{"people", "8c33c76c81472b7fc4ab185f35215d1335ff2de252696d01ace9ce6637a1c04e", people},
		{"visits", "83821130392fb2e620b3d24e8c9775a1e4eec68a7de66cc72621bfa95708f659", visits},
	} {
		sum := sha256.Sum256(c.text)
		if got := hex.EncodeToString(sum[:]); got != c.want {
			t.Errorf("%s: the digest is %s, pinned as %s; it begins\n%s", c.name, got, c.want, c.text[:300])
		}
	}
	if other, _ := files(t, build(t, 2000, 2)); bytes.Equal(people, other) {
		t.Error("two seeds make one town")
	}
}

// A town is the beginning of every larger one of its seed.
func TestNeighbours(t *testing.T) {
	people, visits := files(t, build(t, 100, 3))
	morePeople, moreVisits := files(t, build(t, 101, 3))
	rest, ok := bytes.CutPrefix(morePeople, people)
	if !ok || bytes.Count(rest, []byte("\n")) != 1 || !bytes.HasPrefix(rest, []byte("101,")) {
		t.Errorf("people: %q", rest)
	}
	if rest, ok = bytes.CutPrefix(moreVisits, visits); !ok {
		t.Error("the visits of 100 people are not the first of 101")
	}
	for line := range strings.Lines(string(rest)) {
		if !strings.HasPrefix(line, "101,") {
			t.Errorf("a visit that is not the last person's: %q", line)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, n := range []int64{0, -1, math.MinInt64, town.MaxPeople + 1, math.MaxInt64} {
		if _, err := town.New(n, 1); err == nil {
			t.Errorf("a town of %d", n)
		}
	}
	build(t, town.MaxPeople, math.MaxUint64)
}

// The files are what the policy declares: read strictly, every value is within it, and what is not is meant.
func TestSchema(t *testing.T) {
	made := build(t, 20_000, 1)
	p, err := policy.Decode([]byte(made.Policy(town.CSV)), "")
	if err != nil {
		t.Fatal(err)
	}
	people, visits := files(t, made)
	nulls := checkTable(t, p.Table("people"), people, map[string]int{"income": 400})
	for _, column := range []string{"party", "income", "smoker", "height_cm"} {
		if nulls[column] == 0 {
			t.Errorf("no %s is missing", column)
		}
	}
	if nulls = checkTable(t, p.Table("visits"), visits, map[string]int{"cost": 2500}); nulls["cost"] == 0 {
		t.Error("no cost is missing")
	}
	if rows := int64(bytes.Count(visits, []byte("\n"))); rows < p.Table("visits").ExpectedRows*8/10 || rows > p.Table("visits").ExpectedRows*12/10 {
		t.Errorf("%d visits where about %d are declared", rows, p.Table("visits").ExpectedRows)
	}
	if p.Table("people").ExpectedRows != made.Size() {
		t.Error("the number of people is not declared")
	}
}

// checkTable reads a file by its declaration and returns the NULLs of each column. outside says in which columns values lie
// beyond the bounds, and how many at most.
func checkTable(t *testing.T, table *policy.Table, text []byte, outside map[string]int) (nulls map[string]int) {
	t.Helper()
	names := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		names[i] = c.Name
	}
	if header, _, _ := strings.Cut(string(text), "\n"); header != strings.Join(names, ",") {
		t.Errorf("%s: header %s, declared %v", table.Name, header, names)
	}
	r, err := csvtable.New(bytes.NewReader(text), table.Source.Dialect, table.Columns)
	if err != nil {
		t.Fatal(err)
	}
	nulls, beyond := map[string]int{}, map[string]int{}
	row := make([]value.Value, len(table.Columns))
	for {
		if err := r.Read(row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for i, c := range table.Columns {
			switch {
			case row[i].Null:
				nulls[c.Name]++
			case !within(c, row[i]):
				beyond[c.Name]++
			}
		}
	}
	for name, n := range beyond {
		if n > outside[name] {
			t.Errorf("%s.%s: %d values beyond what is declared", table.Name, name, n)
		}
	}
	for name := range outside {
		if beyond[name] == 0 {
			t.Errorf("%s.%s: no value is cut off by the bounds", table.Name, name)
		}
	}
	return nulls
}

func within(c *policy.Column, v value.Value) bool {
	if c.Values != nil {
		for _, declared := range c.Values {
			if declared == v {
				return true
			}
		}
		return false
	}
	if c.Lower == nil {
		return true
	}
	x := v.Real
	if v.Type != value.Real {
		x = float64(v.Int)
	}
	low, _ := c.Lower.Float64()
	high, _ := c.Upper.Float64()
	return low <= x && x <= high
}

// The policy of Parquet files says the same of other files.
func TestParquetPolicy(t *testing.T) {
	made := build(t, 7, 1)
	p, err := policy.Decode([]byte(made.Policy(town.Parquet)), "")
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Table("visits").Source; s.Format != policy.Parquet || s.Path != "visits.parquet" {
		t.Errorf("source %+v", s)
	}
	if text := made.Policy(town.Parquet); strings.ReplaceAll(text, "parquet", "csv") != made.Policy(town.CSV) {
		t.Error("the policies differ in more than the format")
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("full")

func TestWriteFails(t *testing.T) {
	made := build(t, 5000, 1)
	if n, err := made.WritePeople(full{}); !errors.Is(err, errFull) || n == made.Size() {
		t.Error(n, err)
	}
	if _, err := made.WriteVisits(full{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if _, err := build(t, 1, 1).WritePeople(full{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
}
