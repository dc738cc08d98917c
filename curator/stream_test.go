package curator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dither/internal/ledger"
	"dither/internal/seal"
	"dither/internal/sealing"
	"dither/mechanism/stream"
	"dither/privacy"
)

// streamPolicy has so large a budget that noise hardly hides the counts.
const streamPolicy = `version: 1
population: {name: patients, neighbours: %s}
budget: {rho: 90000, delta: 1e-6}
price: {default: 1, maximum: 250}
tables:
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 9
    columns:
      person: {type: integer}
      id: {type: integer, bounds: [0, 1000]}
      region: {type: text, values: [north, south]}
  rows:
    source: {csv: rows.csv}
    unit: row
    columns:
      id: {type: integer, bounds: [0, 1000]}
`

// streamHome is a home whose visits are sealed again and again.
type streamHome struct {
	t     testing.TB
	home  string
	clock *fakeClock
	owner *Owner
	from  time.Time
}

func newStreamHome(t testing.TB) *streamHome {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	h := &streamHome{t: t, home: filepath.Join(t.TempDir(), "home"), clock: newFakeClock()}
	if err := Init(h.home); err != nil {
		t.Fatal(err)
	}
	write(t, h.home, "policy.yaml", fmt.Sprintf(streamPolicy, "add-remove"))
	h.open()
	h.seal("1,1,north", "1,2,south", "2,3,north")
	h.from = time.Now().UTC().Truncate(time.Second).Add(2 * time.Second) // after the first version
	h.clock.set(h.from.Add(time.Minute))
	return h
}

// open opens the home anew, as another process would.
func (h *streamHome) open() {
	h.owner = openHome(h.t, h.home)
	*inside(h.owner).Clock = h.clock
}

// seal seals a version with these rows: person, id and region.
func (h *streamHome) seal(rows ...string) {
	h.t.Helper()
	write(h.t, h.home, "visits.csv", "person,id,region\n"+strings.Join(rows, "\n")+"\n")
	if _, err := h.owner.Seal(h.t.Context(), "visits", SealOptions{}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *streamHome) declaration() StreamDeclaration {
	return StreamDeclaration{
		Name: "visits_by_day", SQL: "SELECT region, COUNT(*) FROM visits GROUP BY region", From: h.from.Format(time.RFC3339),
		Periods: 9, Rows: 2, Rho: "20000",
	}
}

func (h *streamHome) create() {
	h.t.Helper()
	r, err := h.owner.CreateStream(h.t.Context(), h.declaration())
	if err != nil || r.ID == "" || len(r.Cells) != 0 || len(r.Expected) != 9 {
		h.t.Fatalf("%+v, %v", r, err)
	}
}

func (h *streamHome) advance() (*StreamReport, error) {
	return h.owner.AdvanceStream(h.t.Context(), "visits_by_day", 0, StreamOptions{})
}

// counts advances the stream, and returns the counts of its periods rounded to whole numbers, north/south.
func (h *streamHome) counts() string {
	h.t.Helper()
	r, err := h.advance()
	if err != nil {
		h.t.Fatal(err)
	}
	return roundedCounts(h.t, r)
}

// roundedCounts returns the counts by period, and checks that totals and windows are the sums of counts. The noise has a
// standard deviation below 0.03, so that a number is off by more than 0.4 with a probability below 1e-39.
func roundedCounts(t testing.TB, r *StreamReport) string {
	t.Helper()
	released := len(r.Cells) / 2
	texts := make([]string, released)
	for g := range 2 {
		total := 0.0
		for i := range released {
			cell := r.Cells[g*released+i]
			n := math.Round(cell.Count.Value.Real) + 0 // not −0
			total += n
			if math.Abs(cell.Total.Value.Real-total) > 0.4 || *cell.Total.StdDev > 0.03 || cell.Period != i+1 ||
				*cell.Keys[0] != [2]string{"north", "south"}[g] {
				t.Errorf("%+v", cell)
			}
			if i < r.Window && cell.Window.Value.Real != cell.Total.Value.Real {
				t.Errorf("period %d: a window of %v, and a total of %v", i+1, *cell.Window.Value, *cell.Total.Value)
			}
			texts[i] = strings.TrimPrefix(fmt.Sprintf("%s/%g", texts[i], n), "/")
		}
	}
	return strings.Join(texts, " ")
}

// TestStreamAdvances: rows count in the period in which they are first sealed, up to two of a person. Each period is released
// once and in order, with one price for all of them, and stays as it was released.
func TestStreamAdvances(t *testing.T) {
	h := newStreamHome(t)
	d := h.declaration()
	if e, err := h.owner.ExplainStream(d, StreamOptions{}); err != nil || e.Expected[8].Total <= e.Expected[0].Total ||
		e.Price.Rho != "20000" || e.ID != "" {
		t.Fatalf("%+v, %v", e, err)
	}
	h.create()
	if _, err := h.advance(); codeOf(err) != CodeUsage || !strings.Contains(err.Error(), "no period can be closed now") {
		t.Errorf("an advance without a new version: %v", err)
	}
	h.seal("1,1,north", "2,3,north", "2,4,south", "3,5,north", "3,6,north", "3,7,south")
	if got := h.counts(); got != "2/1" && got != "1/2" { // person 3 has three new rows
		t.Errorf("period 1: %s", got)
	}
	first, err := h.owner.ReadStream("visits_by_day", StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h.open()
	h.seal("1,1,north", "4,8,north") // rows that left, and rows that return, do not count
	if _, err := h.advance(); codeOf(err) != CodeUsage || !strings.Contains(err.Error(), "period 2 begins at") {
		t.Errorf("a second advance in the same period: %v", err)
	}
	h.clock.set(h.from.Add(24*time.Hour + time.Minute))
	if got := h.counts(); !strings.HasSuffix(got, " 1/0") {
		t.Errorf("period 2: %s", got)
	}
	h.seal("4,8,north", "4,9,south", "4,10,south", "5,1,south", "2,3,north", "2,4,south", "1,1,north", "1,2,south")
	h.clock.set(h.from.Add(5*24*time.Hour + time.Minute))
	for _, until := range []int{1, 7, 10} {
		if _, err := h.owner.AdvanceStream(t.Context(), "visits_by_day", until, StreamOptions{}); codeOf(err) != CodeUsage {
			t.Errorf("period %d: %v", until, err)
		}
	}
	if got := h.counts(); !strings.HasSuffix(got, " 1/0 0/2 0/0 0/0") && !strings.HasSuffix(got, " 1/0 0/2 0/0") {
		t.Errorf("caught up: %s", got)
	}
	h.clock.set(h.from.Add(-24 * time.Hour))
	if _, err := h.advance(); codeOf(err) != CodeUsage || !strings.Contains(err.Error(), "clock goes back") {
		t.Errorf("a clock that goes back: %v", err)
	}
	h.clock.set(h.from.Add(90 * 24 * time.Hour))
	h.seal("6,1,south")
	r, err := h.advance()
	if err != nil || !r.Ended || len(r.Cells) != 18 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i := range 2 { // period 1 of both groups
		if a, b := first.Cells[i].Count, r.Cells[i*9].Count; a.Value.Real != b.Value.Real {
			t.Errorf("period 1 was %v, and is %v", a.Value.Real, b.Value.Real)
		}
	}
	if _, err := h.advance(); codeOf(err) != CodeUsage || !strings.Contains(err.Error(), "all 9 periods") {
		t.Errorf("after the horizon: %v", err)
	}
	b, err := h.owner.Budget()
	if err != nil || b.Spent.Rho != "20000" {
		t.Errorf("%+v, %v", b.Spent, err)
	}
	if all, err := h.owner.Streams(StreamOptions{}); err != nil || len(all) != 1 || !all[0].Ended {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestStreamKey: with a key, a row that changes is the same row, and a row of another person is not.
func TestStreamKey(t *testing.T) {
	for _, key := range [][]string{nil, {"id"}} {
		h := newStreamHome(t)
		d := h.declaration()
		d.Key = key
		if _, err := h.owner.CreateStream(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		h.seal("1,1,south", "1,2,south", "2,3,north", "3,1,north")
		want := "1/0"
		if key == nil {
			want = "1/1"
		}
		if got := h.counts(); got != want {
			t.Errorf("key %v: %s, want %s", key, got, want)
		}
	}
}

// crashed runs f until a crash point, as a killed process does, and opens the home again.
func (h *streamHome) crashed(at string, f func()) {
	h.t.Helper()
	point := inside(nil).CrashPoint
	was := *point
	type killed struct{}
	*point = func(now string) {
		if now == at {
			panic(killed{})
		}
	}
	defer func() {
		*point = was
		if p := recover(); p != (killed{}) {
			h.t.Fatalf("%s was not reached: %v", at, p)
		}
		h.open()
	}()
	f()
}

// recorded returns the releases in the stream's private file.
func (h *streamHome) recorded() string { return h.recordedOf("visits_by_day") }

func (h *streamHome) recordedOf(name string) string {
	h.t.Helper()
	r, err := h.owner.kernel.ContinualNamed(name)
	if err != nil {
		h.t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(h.home, "streams", r.Name()+"-*.state"))
	if err != nil || len(files) != 1 {
		h.t.Fatal(files, err)
	}
	f, err := os.Open(files[0])
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	_, y, err := stream.Continual{Cells: 2, Periods: r.Terms.Periods}.Recorded(f)
	if err != nil {
		h.t.Fatal(err)
	}
	return fmt.Sprint(y)
}

// released returns the releases in the ledger.
func (h *streamHome) released() string { return h.releasedOf("visits_by_day") }

func (h *streamHome) releasedOf(name string) string {
	h.t.Helper()
	r, err := h.owner.kernel.ContinualNamed(name)
	if err != nil {
		h.t.Fatal(err)
	}
	return fmt.Sprint(r.Released)
}

// TestStreamCrashes kills a stream at each point. The price is charged once. Releases that are durable are recorded later
// as they were drawn, even if another version was sealed since, and releases that are not durable leave nothing.
func TestStreamCrashes(t *testing.T) {
	h := newStreamHome(t)
	h.crashed("stream reserved", func() { _, _ = h.owner.CreateStream(t.Context(), h.declaration()) })
	if _, err := h.owner.CreateStream(t.Context(), h.declaration()); codeOf(err) != CodeUsage ||
		!strings.Contains(err.Error(), "already a stream") {
		t.Errorf("a second creation: %v", err)
	}
	h.seal("1,1,north", "1,2,south", "2,3,north", "7,1,north")
	h.crashed("stream drawn", func() { _, _ = h.advance() })
	if got := h.released(); got != "[]" || h.recorded() != "[]" {
		t.Errorf("after a crash before the file is in its place: %s", got)
	}
	h.crashed("stream durable", func() { _, _ = h.advance() })
	drawn := h.recorded()
	if got := h.released(); got != "[]" || drawn == "[]" {
		t.Errorf("after a crash before the ledger's entry: %s, %s", got, drawn)
	}
	h.seal("8,1,south", "9,1,south")
	if got := h.counts(); got != "1/0" || h.released() != drawn {
		t.Errorf("recovered: %s, %s, drawn %s", got, h.released(), drawn)
	}
	h.clock.set(h.from.Add(25 * time.Hour))
	h.crashed("stream recorded", func() { _, _ = h.advance() })
	if h.released() != h.recorded() {
		t.Errorf("%s, %s", h.released(), h.recorded())
	}
	r, err := h.owner.ReadStream("visits_by_day", StreamOptions{})
	if err != nil || roundedCounts(t, r) != "1/0 0/2" {
		t.Errorf("%+v, %v", r, err)
	}
	left, err := filepath.Glob(filepath.Join(h.home, "streams", ".state-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	b, err := h.owner.Budget()
	if err != nil || b.Spent.Rho != "20000" {
		t.Errorf("%+v, %v", b.Spent, err)
	}
}

// TestStreamFilesAreChecked: a private file that was lost, restored from a copy or damaged ends the stream, and a ledger that
// was restored with it does too. Its releases remain.
func TestStreamFilesAreChecked(t *testing.T) {
	h := newStreamHome(t)
	h.create()
	h.seal("7,1,north")
	h.counts()
	files, err := filepath.Glob(filepath.Join(h.home, "streams", "r*.state"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	keep := func(names ...string) (restore func()) {
		texts := map[string][]byte{}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = text
		}
		return func() {
			for name, text := range texts {
				if err := os.WriteFile(name, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	log := []string{filepath.Join(h.home, "ledger.log"), filepath.Join(h.home, "ledger.head")}
	older := keep(files[0])
	for i := range 2 {
		h.seal(fmt.Sprintf("%d,1,north", 8+i))
		h.clock.set(h.from.Add(time.Duration(25+24*i) * time.Hour))
		if i == 1 {
			continue
		}
		h.counts()
	}
	newer := keep(files[0])
	before := keep(log...)
	older()
	refused := func(why string) {
		t.Helper()
		h.open()
		if _, err := h.advance(); codeOf(err) != CodeLedger || !strings.Contains(err.Error(), "does not match the ledger") {
			t.Errorf("%s: %v", why, err)
		}
		if r, err := h.owner.ReadStream("visits_by_day", StreamOptions{}); err != nil || len(r.Cells) < 4 {
			t.Errorf("%s: %v", why, err)
		}
	}
	refused("an older file")
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	refused("no file")
	if err := os.WriteFile(files[0], []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("another file")
	newer()
	if got := h.counts(); !strings.HasSuffix(got, " 1/0") {
		t.Errorf("the right file: %s", got)
	}
	h.clock.set(h.from.Add(100 * time.Hour))
	h.counts()
	before() // the ledger of two advances ago
	refused("an older ledger")
}

// TestStreamsMissTheirFirstFile: a private file that was lost is missed even if the ledger has no release, as after the
// ledger was restored from a copy from before the first advance. Otherwise the first periods would be drawn again.
func TestStreamsMissTheirFirstFile(t *testing.T) {
	h := newStreamHome(t)
	h.create()
	log := map[string]string{}
	for _, name := range []string{"ledger.log", "ledger.head"} {
		log[name] = string(must[[]byte](t)(os.ReadFile(filepath.Join(h.home, name))))
	}
	h.seal("7,1,north")
	h.counts()
	files := must[[]string](t)(filepath.Glob(filepath.Join(h.home, "streams", "r*.state")))
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	for name, text := range log {
		write(t, h.home, name, text)
	}
	h.open()
	h.seal("7,1,north")
	if _, err := h.advance(); codeOf(err) != CodeLedger || !strings.Contains(err.Error(), "does not match the ledger") {
		t.Error(err)
	}
}

// TestStreamRefuses names each declaration that no stream can have, before anything is charged, and a policy that has
// changed.
func TestStreamRefuses(t *testing.T) {
	h := newStreamHome(t)
	write(t, h.home, "rows.csv", "id\n1\n2\n")
	if _, err := h.owner.Seal(t.Context(), "rows", SealOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(d *StreamDeclaration){
		"a name":        func(d *StreamDeclaration) { d.Name = "Visits" },
		"no name":       func(d *StreamDeclaration) { d.Name = "" },
		"minutes":       func(d *StreamDeclaration) { d.Every = "minute" },
		"no date":       func(d *StreamDeclaration) { d.From = "tomorrow" },
		"no periods":    func(d *StreamDeclaration) { d.Periods = 0 },
		"many periods":  func(d *StreamDeclaration) { d.Periods = 1 << 20 },
		"negative rows": func(d *StreamDeclaration) { d.Rows = -1 },
		"a key":         func(d *StreamDeclaration) { d.Key = []string{"nothing"} },
		"a sum":         func(d *StreamDeclaration) { d.SQL = "SELECT SUM(id) FROM visits" },
		"units":         func(d *StreamDeclaration) { d.SQL = "SELECT COUNT(DISTINCT person) FROM visits" },
		"row units":     func(d *StreamDeclaration) { d.SQL = "SELECT COUNT(*) FROM rows" },
		"unknown keys":  func(d *StreamDeclaration) { d.SQL = "SELECT id, COUNT(*) FROM visits GROUP BY person" },
		"having":        func(d *StreamDeclaration) { d.SQL += " HAVING COUNT(*) > 3" },
		"no SQL":        func(d *StreamDeclaration) { d.SQL = "" },
		"two columns":   func(d *StreamDeclaration) { d.SQL = "SELECT region AS Count, COUNT(*) FROM visits GROUP BY region" },
		"a window":      func(d *StreamDeclaration) { d.SQL = "SELECT region AS last_7, COUNT(*) FROM visits GROUP BY region" },
		"a price":       func(d *StreamDeclaration) { d.Rho = "1000000" },
		"no price":      func(d *StreamDeclaration) { d.Rho = "0" },
	} {
		d := h.declaration()
		change(&d)
		_, err := h.owner.CreateStream(t.Context(), d)
		var e *Error
		if !errors.As(err, &e) || e.Charged || e.Code == CodeInternal {
			t.Errorf("%s: %v", name, err)
		}
		if _, explained := h.owner.ExplainStream(d, StreamOptions{}); explained == nil || explained.Error() != err.Error() {
			t.Errorf("%s: explained as %v", name, explained)
		}
	}
	if b, err := h.owner.Budget(); err != nil || b.Spent.Rho != "0" {
		t.Errorf("%+v, %v", b.Spent, err)
	}
	if _, err := h.advance(); codeOf(err) != CodeUsage {
		t.Errorf("no stream: %v", err)
	}
	h.create()
	h.seal("7,1,north")
	text := strings.Replace(fmt.Sprintf(streamPolicy, "add-remove"), "[north, south]", "[north, south, west]", 1)
	write(t, h.home, "policy.yaml", text)
	h.open()
	if _, err := h.owner.AcceptPolicy(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	h.seal("7,1,north")
	if _, err := h.advance(); codeOf(err) != CodePolicy || !strings.Contains(err.Error(), "has changed since") {
		t.Errorf("another declaration: %v", err)
	}
}

// TestStreamsInSQL: SELECTs read a stream by its name, free. Numbers that are shown as they were released have their
// intervals. A stream cannot have the name of a table, nor be read by an analyst whom the policy does not list.
func TestStreamsInSQL(t *testing.T) {
	h := newStreamHome(t)
	h.create()
	h.seal("7,1,north", "8,1,south", "9,1,south")
	h.counts()
	report, err := h.owner.ReadStream("visits_by_day", StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(sql string) *Release {
		t.Helper()
		r, err := h.owner.Answer(t.Context(), Question{SQL: sql})
		if err != nil || !r.Free || r.Price.Rho != "0" {
			t.Fatalf("%s: %+v, %v", sql, r, err)
		}
		return r
	}
	r := ask("SELECT period, region, count, total FROM visits_by_day WHERE region = 'south'")
	if len(r.Rows) != 1 || r.Rows[0][0].Key != int64(1) || r.Rows[0][1].Key != "south" {
		t.Fatalf("%+v", r.Rows)
	}
	if e, want := r.Rows[0][2].Estimate, report.Cells[1].Count; e.Value.Real != want.Value.Real ||
		e.Low.Real != want.Low.Real || e.High.Real != want.High.Real {
		t.Errorf("%+v, want %+v", e, want)
	}
	r = ask("SELECT SUM(total) AS n FROM visits_by_day")
	if e := r.Rows[0][0].Estimate; math.Abs(e.Value.Real-3) > 1 {
		t.Errorf("%+v", e)
	}
	// rows that the stream's own noise chooses have no interval
	for _, sql := range []string{
		"SELECT region, total FROM visits_by_day WHERE region IN (SELECT region FROM visits_by_day ORDER BY total DESC LIMIT 1)",
		"SELECT region, total FROM visits_by_day WHERE period IN (SELECT period FROM visits_by_day WHERE total > 1)",
		"SELECT region, total FROM visits_by_day ORDER BY total DESC LIMIT 1",
	} {
		r := ask(sql)
		if c := r.Columns[1]; c.NoInterval == "" {
			t.Errorf("%s: %+v", sql, c)
		}
		for _, row := range r.Rows {
			if e := row[1].Estimate; e.Low != nil || e.High != nil {
				t.Errorf("%s: %+v", sql, e)
			}
		}
	}
	if _, err := h.owner.Answer(t.Context(), Question{SQL: "SELECT nothing FROM visits_by_day"}); codeOf(err) != CodePolicy &&
		codeOf(err) != CodeSQL {
		t.Errorf("another column: %v", err)
	}
	d := h.declaration()
	d.Name = "visits"
	if _, err := h.owner.CreateStream(t.Context(), d); codeOf(err) != CodeUsage {
		t.Errorf("the name of a table: %v", err)
	}
	if b, err := h.owner.Budget(); err != nil || b.Spent.Rho != "20000" {
		t.Errorf("%+v, %v", b.Spent, err)
	}
}

// TestStreamsSealAnew: as long as a stream counts the rows of a table, each sealing makes a new version, even of an
// unchanged source. So a period that the owner seals in and advances in is released on time, whether rows have changed or
// not. Otherwise the time of a release, and the number of the version in it, would tell this exactly.
func TestStreamsSealAnew(t *testing.T) {
	for _, rows := range [][]string{{"1,1,north"}, {"1,1,north", "2,2,south"}} {
		h := newStreamHome(t)
		h.seal("1,1,north")
		h.create()
		h.seal(rows...)
		r, err := h.advance()
		if err != nil || len(r.Advances) != 1 || r.Advances[0].Last != 1 || r.Advances[0].Version != 3 {
			t.Fatalf("%v: %+v, %v", rows, r, err)
		}
		h.clock.set(h.from.Add(90 * 24 * time.Hour))
		if r, err = h.advance(); err != nil || !r.Ended {
			t.Fatalf("%+v, %v", r, err)
		}
		if s, err := h.owner.Seal(t.Context(), "visits", SealOptions{}); err != nil || !s.Unchanged || s.Version != 3 {
			t.Errorf("after the stream: %+v, %v", s, err)
		}
	}
}

// TestStreamsSealAnewAfterCrashes: a sealing that was killed before the ledger had its version does not change this: the
// next version has the same number, whether the source has changed since or not.
func TestStreamsSealAnewAfterCrashes(t *testing.T) {
	for _, row := range []string{"3,3,south", "3,4,south"} {
		h := newStreamHome(t)
		h.create()
		write(t, h.home, "visits.csv", "person,id,region\n1,1,north\n3,3,south\n")
		before := must[ledger.State](t)(h.owner.ledger.State()).Sealed["visits"]
		v, _, err := seal.Seal(
			t.Context(), h.home, h.owner.policy.Table("visits"), sealing.Files(t.TempDir()),
			seal.Options{Always: true, After: before.Version, Recorded: before.SHA256},
		)
		if err != nil || v.Number != 2 {
			t.Fatalf("%+v, %v", v, err)
		}
		h.seal("1,1,north", row)
		if r, err := h.advance(); err != nil || len(r.Advances) != 1 || r.Advances[0].Version != 3 {
			t.Errorf("%s: %+v, %v", row, r, err)
		}
	}
}

// TestStreamsWaitForSealings: a stream is not created while its table is sealed. Such a sealing does not know the stream, and
// makes a version only if the source has changed.
func TestStreamsWaitForSealings(t *testing.T) {
	h := newStreamHome(t)
	write(t, h.home, "visits.csv", "person,id,region\n4,4,north\n")
	during := 0
	_, err := h.owner.Seal(t.Context(), "visits", SealOptions{Progress: func(int64, int64, int64) {
		if during++; during > 1 {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := h.owner.CreateStream(ctx, h.declaration()); err == nil {
			t.Error("created while the table is sealed")
		}
	}})
	if err != nil || during == 0 {
		t.Fatal(during, err)
	}
	h.create()
}

// TestStreamsArePaid: a policy that lowers the maximum price of a question does not end a stream that is paid.
func TestStreamsArePaid(t *testing.T) {
	h := newStreamHome(t)
	h.create()
	text := strings.Replace(fmt.Sprintf(streamPolicy, "add-remove"), "maximum: 250", "maximum: 2", 1)
	write(t, h.home, "policy.yaml", text)
	h.open()
	if _, err := h.owner.AcceptPolicy(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	h.seal("7,1,north")
	if got := h.counts(); got != "1/0" {
		t.Error(got)
	}
}

// TestStreamSensitivities: under change-one neighbours the recorded sensitivity is twice as large, and a mechanism's noise
// follows it.
func TestStreamSensitivities(t *testing.T) {
	h := newStreamHome(t)
	h.create()
	r, err := h.owner.kernel.ContinualNamed("visits_by_day")
	if err != nil {
		t.Fatal(err)
	}
	rho := must[privacy.Rho](t)(privacy.ParseRho("20000"))
	m := stream.Continual{Periods: 9, Cells: 2, Rows: 2, Neighbours: privacy.AddRemove, Rho: rho}
	change := m
	change.Neighbours = privacy.ChangeOne
	if r.Mechanism.Sensitivity != m.L2Squared().String() ||
		change.L2Squared().Cmp(m.L2Squared().Lsh(m.L2Squared(), 1)) != 0 {
		t.Errorf("%+v, %s", r.Mechanism, m.L2Squared())
	}
}

// TestStreamsEnd: a stream that is given up releases no further period. Its releases remain, its price stays spent, and its table is sealed like any other.
func TestStreamsEnd(t *testing.T) {
	h := newStreamHome(t)
	h.create()
	h.seal("7,1,north")
	before := h.counts()
	end := func() error {
		_, err := h.owner.EndStream(t.Context(), "visits_by_day")
		return err
	}
	if r, err := h.owner.EndStream(t.Context(), "visits_by_day"); err != nil || !r.GivenUp || r.Ended {
		t.Fatalf("%+v, %v", r, err)
	}
	h.open()
	h.clock.set(h.from.Add(50 * time.Hour))
	for name, err := range map[string]error{"advanced": second(h.advance()), "ended again": end()} {
		if codeOf(err) != CodeUsage || !strings.Contains(err.Error(), "was given up") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r, err := h.owner.ReadStream("visits_by_day", StreamOptions{}); err != nil || roundedCounts(t, r) != before || !r.GivenUp {
		t.Errorf("%+v, %v", r, err)
	}
	if s, err := h.owner.Seal(t.Context(), "visits", SealOptions{}); err != nil || !s.Unchanged {
		t.Errorf("%+v, %v", s, err)
	}
	if b, err := h.owner.Budget(); err != nil || b.Spent.Rho != "20000" {
		t.Errorf("%+v, %v", b.Spent, err)
	}
	if _, err := h.owner.EndStream(t.Context(), "another"); codeOf(err) != CodeUsage {
		t.Errorf("no stream: %v", err)
	}
	if all, err := h.owner.Streams(StreamOptions{}); err != nil || len(all) != 1 || !all[0].GivenUp {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestStreamsBeginWithTheNewestVersion: the rows of the version that is the newest at the creation of a stream never count,
// whether that version was sealed before the first period or in it, and it closes no period. The time of such a version
// depends on rows: a sealing makes none if the source has not changed. If a row of one unit could decide whether there is a
// version in the first period, it could decide whether all rows count.
func TestStreamsBeginWithTheNewestVersion(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	h := newStreamHome(t)
	h.from = time.Now().UTC().Truncate(time.Second).Add(time.Second) // after the first version
	time.Sleep(time.Until(h.from))
	if r, err := h.owner.Seal(t.Context(), "visits", SealOptions{}); err != nil || !r.Unchanged {
		t.Fatal(r, err) // a stream that is created now begins with a version from before its first period
	}
	h.clock.set(h.from.Add(time.Minute))
	h.create()
	d := h.declaration()
	d.Name = "changed"
	h.seal("1,1,north", "1,2,south", "2,3,north", "9,9,north") // and now with a version in it
	if _, err := h.owner.CreateStream(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if _, err := h.owner.AdvanceStream(t.Context(), "changed", 0, StreamOptions{}); codeOf(err) != CodeUsage ||
		!strings.Contains(err.Error(), "no period can be closed now") {
		t.Errorf("closed by the version that was there at the creation: %v", err)
	}
	h.clock.set(h.from.Add(25 * time.Hour))
	r, err := h.owner.AdvanceStream(t.Context(), "changed", 0, StreamOptions{})
	if err != nil || roundedCounts(t, r) != "0/0" {
		t.Errorf("%+v, %v", r, err)
	}
	if got := h.counts(); got != "1/0" {
		t.Errorf("rows since the creation: %s", got)
	}
}

// TestStreamsBeginToday: without a date, the first period begins with the present day or hour. A stream whose periods are all over is
// refused, free.
func TestStreamsBeginToday(t *testing.T) {
	h := newStreamHome(t)
	d := h.declaration()
	d.From = ""
	h.clock.set(h.from.Truncate(24 * time.Hour).Add(30 * time.Hour))
	r, err := h.owner.ExplainStream(d, StreamOptions{})
	if want := h.from.Truncate(24 * time.Hour).Add(24 * time.Hour); err != nil || !r.From.Equal(want) {
		t.Errorf("%+v, %v, want %s", r, err, want)
	}
	d.Every, d.Periods = "hour", 3
	h.clock.set(h.from.Truncate(24 * time.Hour).Add(30*time.Hour + time.Minute))
	r, err = h.owner.ExplainStream(d, StreamOptions{})
	if want := h.from.Truncate(24 * time.Hour).Add(30 * time.Hour); err != nil || !r.From.Equal(want) {
		t.Errorf("hours: %+v, %v, want %s", r, err, want)
	}
	d.Every = "day"
	d.From, d.Periods = h.from.Add(-50*time.Hour).Format(time.RFC3339), 2
	if _, err := h.owner.CreateStream(t.Context(), d); codeOf(err) != CodeUsage || !strings.Contains(err.Error(), "are over") {
		t.Error(err)
	}
	if b, err := h.owner.Budget(); err != nil || b.Spent.Rho != "0" {
		t.Errorf("%+v, %v", b.Spent, err)
	}
}
