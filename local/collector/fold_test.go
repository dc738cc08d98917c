package collector_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dither/local/collector"
	"dither/local/survey"
)

// Folding deletes old reports, keeps the estimates, and keeps ids until the window refuses late reports.
func TestFoldKeepsEstimates(t *testing.T) {
	s := must(survey.Parse([]byte(strings.Replace(declaration, "version: 1\nq", `version: 1
window: {closes: 2026-12-31T00:00:00Z, skew: 1h}
retention: {fold: 2d}
q`, 1))))
	now := time.Date(2026, 12, 20, 12, 30, 0, 0, time.UTC)
	st := must(collector.Open(filepath.Join(t.TempDir(), "store"), s))
	st.SetNow(func() time.Time { return now })
	all := reports(s, 90)
	for i := range 3 {
		must(st.Add(t.Context(), all[30*i:30*i+30]))
		now = now.Add(24 * time.Hour)
	}
	want := must(st.Results(.95, collector.Malicious(2)))
	if n := must(st.Fold(t.Context())); n != 30 {
		t.Errorf("%d reports were folded", n)
	}
	got := must(st.Results(.95, collector.Malicious(2)))
	now = now.Add(24 * time.Hour)
	if n := must(st.Fold(t.Context())); n != 30 {
		t.Errorf("%d reports were folded", n)
	}
	again := must(st.Results(.95, collector.Malicious(2)))
	for i, q := range want.Questions {
		if !slices.Equal(got.Questions[i].Estimates, q.Estimates) || !slices.Equal(again.Questions[i].Estimates, q.Estimates) {
			t.Errorf("%v became %v and %v", q.Estimates, got.Questions[i].Estimates, again.Questions[i].Estimates)
		}
	}
	if again.Reports != 90 || again.Folded != 60 {
		t.Errorf("%d reports, %d folded", again.Reports, again.Folded)
	}
	if fresh := must(st.Add(t.Context(), all)); count(fresh) != 0 {
		t.Errorf("%d replayed reports were counted twice", count(fresh))
	}
	now = s.Closes.Add(s.Skew)
	must(st.Fold(t.Context()))
	if n := must(st.Rows("ids")); n != 90 || st.Late(now) {
		t.Errorf("%d ids at the end of the window", n)
	}
	now = now.Add(time.Second)
	must(st.Fold(t.Context()))
	if n := must(st.Rows("ids")); n != 0 || !st.Late(now) {
		t.Errorf("%d ids after the window", n)
	}
	now = s.Closes.Add(-time.Hour) // a clock that goes back
	if _, err := st.Add(t.Context(), all[:1]); !errors.Is(err, collector.ErrOver) {
		t.Errorf("a replayed report, after its id was deleted: %v", err)
	}
	if n := must(st.Reports()); n != 90 {
		t.Errorf("%d reports in the end", n)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// A collector of an earlier version, whose window has closed, keeps the ids of the version that collects.
func TestEarlierVersionKeepsIDs(t *testing.T) {
	window := "version: 1\nwindow: {closes: 2026-12-31T00:00:00Z}\nq"
	s := must(survey.Parse([]byte(strings.Replace(declaration, "version: 1\nq", window, 1))))
	second := must(survey.Parse([]byte(strings.Replace(declaration, "version: 1\nq", "version: 2\nq", 1))))
	now := time.Date(2026, 12, 20, 12, 30, 0, 0, time.UTC)
	file := filepath.Join(t.TempDir(), "store")
	open := func(s *survey.Survey) *collector.Store {
		st := must(collector.Open(file, s))
		st.SetNow(func() time.Time { return now })
		return st
	}
	earlier := open(s)
	must(earlier.Add(t.Context(), reports(s, 3)))
	st := open(second)
	all := reports(second, 5)
	must(st.Add(t.Context(), all))
	now = s.Closes.Add(time.Hour)
	must(earlier.Fold(t.Context()))
	if fresh := must(st.Add(t.Context(), all)); count(fresh) != 0 {
		t.Errorf("%d replayed reports were counted twice", count(fresh))
	}
	for _, st := range []*collector.Store{earlier, st} {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Two processes that fold at the same moment fold each report once. A context that ends stops them between parts.
func TestFoldingTwice(t *testing.T) {
	s := must(survey.Parse([]byte(`
survey: 1
name: many
version: 1
questions: [{name: q, values: 1000, mechanism: olh, epsilon: 20}]
retention: {fold: 2d}
`)))
	now := time.Date(2026, 12, 20, 12, 30, 0, 0, time.UTC)
	file := filepath.Join(t.TempDir(), "store")
	var stores [2]*collector.Store
	for i := range stores {
		stores[i] = must(collector.Open(file, s))
		stores[i].SetNow(func() time.Time { return now })
		stores[i].SetSteps(3 * 40 * 1000) // three rows
	}
	const rows, each = 24, 40
	var all []survey.Report
	for range rows {
		var batch []survey.Report
		for i := range each {
			batch = append(batch, must(s.Randomize([]survey.Answer{{Value: uint64(i % 4)}})))
		}
		must(stores[0].Add(t.Context(), batch))
		all = append(all, batch...)
	}
	now = now.Add(72 * time.Hour)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := stores[0].Fold(over); !errors.Is(err, context.Canceled) || n == 0 || n == rows*each {
		t.Errorf("%d reports were folded, %v", n, err)
	}
	before := must(stores[0].Reports())
	var wait sync.WaitGroup
	for _, st := range stores {
		wait.Go(func() {
			if _, err := st.Fold(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := must(stores[1].Rows("reports")); n != 0 {
		t.Errorf("%d rows of reports are left", n)
	}
	tally := s.Questions[0].Oracle.NewTally()
	for _, r := range all {
		if err := tally.Add(r.Answers[0]); err != nil {
			t.Fatal(err)
		}
	}
	want, got := must(tally.Estimate(.95, 0, 1, 2, 3, 4)), must(stores[1].Results(.95, collector.Malicious(2)))
	if !slices.Equal(want, got.Questions[0].Estimates[:5]) || got.Reports != rows*each || before != rows*each {
		t.Errorf("%v became %v, of %d reports", want, got.Questions[0].Estimates[:5], got.Reports)
	}
	for _, st := range stores {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Folded averages of numbers give the same mean, up to rounding. The interval for malicious reports is wider.
func TestMeansOfNumbers(t *testing.T) {
	s := must(survey.Parse([]byte(`
survey: 1
name: sleep
version: 1
retention: {fold: 2d}
questions:
  - {name: hours, bounds: [0, 10], mechanism: piecewise, epsilon: 4}
  - {name: dream, values: [yes, no], mechanism: krr, epsilon: 4}
`)))
	now := time.Date(2026, 12, 20, 12, 30, 0, 0, time.UTC)
	file := filepath.Join(t.TempDir(), "store")
	st := must(collector.Open(file, s))
	st.SetNow(func() time.Time { return now })
	if r := must(st.Results(.95, collector.Malicious(2))); r.Questions[0].Mean.Low != 0 || r.Questions[0].Mean.High != 10 {
		t.Errorf("without reports: %+v", r.Questions[0].Mean)
	}
	var all []survey.Report
	for range 2000 {
		all = append(all, must(s.Randomize([]survey.Answer{{Number: -.4}, {}}))) // 3 hours
	}
	must(st.Add(t.Context(), all[:1000]))
	now = now.Add(72 * time.Hour)
	must(st.Add(t.Context(), all[1000:]))
	before := must(st.Results(.95, collector.Malicious(50))).Questions[0]
	if n := must(st.Fold(t.Context())); n != 1000 {
		t.Errorf("%d reports were folded", n)
	}
	after := must(st.Results(.95, collector.Malicious(50))).Questions[0]
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if !near(before.Mean.Mean, after.Mean.Mean) || !near(before.Mean.Stddev, after.Mean.Stddev) || after.Mean.N != 2000 {
		t.Errorf("%+v became %+v", before.Mean, after.Mean)
	}
	if m := after.Mean; math.Abs(m.Mean-3) > 6*m.Stddev { // a false alarm of 2e-9
		t.Errorf("the mean is %v ± %v, not 3", m.Mean, m.Stddev)
	}
	if a, b := after.Mean, after.SuspectMean; b.Low >= a.Low || b.High <= a.High || b.Low < 0 || b.High > 10 {
		t.Errorf("with malicious reports, %+v becomes %+v", a, b)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// A new version ends the collection of the earlier one, also in a collector that still runs for it. Its retention folds
// the reports of all versions.
func TestNewVersionFoldsTheEarlierOne(t *testing.T) {
	s := must(survey.Parse([]byte(declaration)))
	change := strings.NewReplacer("version: 1\nq", "version: 2\nretention: {fold: 2d}\nq", "epsilon: 1", "epsilon: 1.5")
	second := must(survey.Parse([]byte(change.Replace(declaration))))
	now := time.Date(2026, 12, 20, 12, 30, 0, 0, time.UTC)
	file := filepath.Join(t.TempDir(), "store")
	open := func(s *survey.Survey) *collector.Store {
		st := must(collector.Open(file, s))
		st.SetNow(func() time.Time { return now })
		return st
	}
	old := open(s)
	all := reports(s, 40)
	must(old.Add(t.Context(), all))
	before := must(old.Results(.95, collector.Malicious(2)))
	st := open(second)
	if _, err := old.Add(t.Context(), reports(s, 1)); !errors.Is(err, collector.ErrOver) {
		t.Errorf("a report of the earlier version: %v", err)
	}
	if status, code := ask(t, collector.NewServer(old, collector.Options{}).Handler(), "POST", "/v1/reports",
		collector.BinaryType, "", s.Binary(all)); status != 403 || code != "late" {
		t.Errorf("a replayed report of the earlier version: %d %s", status, code)
	}
	must(st.Add(t.Context(), reports(second, 20)))
	now = now.Add(72 * time.Hour)
	if n := must(st.Fold(t.Context())); n != 60 {
		t.Errorf("%d of 60 reports were folded", n)
	}
	if n := must(st.Rows("reports")); n != 0 {
		t.Errorf("%d rows of reports are left", n)
	}
	after := must(old.Results(.95, collector.Malicious(2)))
	if after.Folded != 40 {
		t.Errorf("%d of 40 reports are folded", after.Folded)
	}
	for i, q := range before.Questions {
		if !slices.Equal(q.Estimates, after.Questions[i].Estimates) {
			t.Errorf("%v became %v", q.Estimates, after.Questions[i].Estimates)
		}
	}
	if err := errors.Join(old.Close(), st.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestFoldedReportsAreOverwritten looks for the bytes of folded reports in all files of the store. While the store is
// read, the log keeps them, and the next call empties it.
func TestFoldedReportsAreOverwritten(t *testing.T) {
	s := must(survey.Parse([]byte(strings.Replace(declaration, "version: 1\nq", "version: 1\nretention: {fold: 2d}\nq", 1))))
	now := time.Date(2026, 12, 20, 12, 30, 0, 0, time.UTC)
	folder := t.TempDir()
	st := must(collector.Open(filepath.Join(folder, "store"), s))
	st.SetNow(func() time.Time { return now })
	must(st.Add(t.Context(), reports(s, 400)))
	stored := must(st.Answers())
	found := func() (in []string) {
		for _, f := range must(os.ReadDir(folder)) {
			if bytes.Contains(must(os.ReadFile(filepath.Join(folder, f.Name()))), stored[:24]) {
				in = append(in, f.Name())
			}
		}
		return in
	}
	if len(stored) < 24 || found() == nil {
		t.Fatalf("%d bytes of answers, which no file has", len(stored))
	}
	now = now.Add(72 * time.Hour)
	if err := st.Impatient(); err != nil {
		t.Fatal(err)
	}
	end := must(st.ReadUntil())
	if n := must(st.Fold(t.Context())); n != 400 {
		t.Fatalf("%d reports were folded", n)
	}
	if in := found(); in == nil {
		t.Error("the log was emptied beside a reader: this test shows nothing")
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if n := must(st.Fold(t.Context())); n != 0 {
		t.Errorf("%d reports were folded again", n)
	}
	if in := found(); in != nil {
		t.Errorf("folded reports are still in %v", in)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// A full disk refuses reports, and loses none that were acknowledged. With space again, reports are accepted again.
func TestFullDisk(t *testing.T) {
	s := must(survey.Parse([]byte(declaration)))
	file := filepath.Join(t.TempDir(), "store")
	st := must(collector.Open(file, s))
	if err := st.Fill(20); err != nil {
		t.Fatal(err)
	}
	acknowledged, failed := 0, 0
	var refused []survey.Report
	for range 20 {
		some := reports(s, 200)
		fresh, err := st.Add(t.Context(), some)
		switch {
		case errors.Is(err, collector.ErrFull) && errors.Is(err, collector.ErrStore):
			failed++
			refused = some
		case err != nil:
			t.Fatal(err)
		default:
			acknowledged += count(fresh)
		}
	}
	if n := must(st.Reports()); failed == 0 || acknowledged == 0 || n != int64(acknowledged) {
		t.Errorf("%d reports after %d acknowledged ones and %d refused calls", n, acknowledged, failed)
	}
	if err := st.Fill(1000); err != nil {
		t.Fatal(err)
	}
	if fresh := must(st.Add(t.Context(), refused)); count(fresh) != 200 {
		t.Errorf("%d of 200 refused reports are fresh", count(fresh))
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = must(collector.Open(file, s))
	if n := must(st.Reports()); n != int64(acknowledged)+200 {
		t.Errorf("%d reports, want %d", n, acknowledged+200)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}
