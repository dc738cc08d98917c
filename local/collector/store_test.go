package collector_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"dither/local/collector"
	"dither/local/survey"
)

const declaration = `
survey: 1
name: dinner
version: 1
questions:
  - {name: phone, values: [never, sometimes, always], mechanism: krr, epsilon: 1}
  - {name: postcode, values: 50, mechanism: olh, epsilon: 2}
`

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func reports(s *survey.Survey, n int) (out []survey.Report) {
	for i := range n {
		values := make([]survey.Answer, len(s.Questions))
		values[0].Value = uint64(i % 2)
		out = append(out, must(s.Randomize(values)))
	}
	return out
}

func count(fresh []bool) (n int) {
	for _, f := range fresh {
		if f {
			n++
		}
	}
	return n
}

// Each report is counted once, in one call, in several at once, and after the store was closed.
func TestReportsAreCountedOnce(t *testing.T) {
	s := must(survey.Parse([]byte(declaration)))
	file := filepath.Join(t.TempDir(), "store ?#%.db")
	st := must(collector.Open(file, s))
	all := reports(s, 300)
	if fresh := must(st.Add(t.Context(), append(slices.Clone(all[:100]), all[7]))); count(fresh) != 100 || fresh[100] {
		t.Errorf("%d of 100 reports are fresh", count(fresh))
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for i := range 8 {
		wait.Go(func() {
			n := count(must(st.Add(context.Background(), all[i*20:i*20+160])))
			mu.Lock()
			defer mu.Unlock()
			total += n
		})
	}
	wait.Wait()
	if total != 200 {
		t.Errorf("%d of 200 reports were accepted", total)
	}
	before := must(st.Results(.95, collector.Malicious(3)))
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Add(t.Context(), all); !errors.Is(err, collector.ErrClosed) {
		t.Errorf("a closed store: %v", err)
	}
	again := must(collector.Open(file, s))
	if fresh := must(again.Add(t.Context(), all)); count(fresh) != 0 {
		t.Errorf("%d reports were counted twice", count(fresh))
	}
	after := must(again.Results(.95, collector.Malicious(3)))
	read := must(collector.Read(file, s))
	other := must(read.Results(.95, collector.Malicious(3)))
	for i, q := range before.Questions {
		if before.Reports != 300 || !slices.Equal(q.Estimates, after.Questions[i].Estimates) ||
			!slices.Equal(q.Suspect, other.Questions[i].Suspect) {
			t.Errorf("%d reports; %v, then %v", before.Reports, q.Estimates, after.Questions[i].Estimates)
		}
	}
	for _, st := range []*collector.Store{again, read} {
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The results of an open store follow the reports of another process.
func TestResultsFollowTheStore(t *testing.T) {
	s := must(survey.Parse([]byte(declaration)))
	file := filepath.Join(t.TempDir(), "store")
	st := must(collector.Open(file, s))
	read := must(collector.Read(file, s))
	for i := range int64(3) {
		if n := must(read.Reports()); n != 10*i {
			t.Errorf("%d reports, want %d", n, 10*i)
		}
		must(st.Add(t.Context(), reports(s, 10)))
	}
	if err := errors.Join(read.Close(), st.Close()); err != nil {
		t.Fatal(err)
	}
}

// A changed survey is refused under its version, and begins without reports under a new one.
func TestChangedSurveys(t *testing.T) {
	s := must(survey.Parse([]byte(declaration)))
	file := filepath.Join(t.TempDir(), "store")
	st := must(collector.Open(file, s))
	first := reports(s, 10)
	must(st.Add(t.Context(), first))
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	change := func(from, to string) *survey.Survey {
		return must(survey.Parse([]byte(strings.Replace(declaration, from, to, 1))))
	}
	for _, other := range []*survey.Survey{change("epsilon: 1", "epsilon: 1.5"), change("dinner", "lunch")} {
		if _, err := collector.Open(file, other); !errors.Is(err, collector.ErrChanged) {
			t.Errorf("a changed survey: %v", err)
		}
		if _, err := collector.Read(file, other); !errors.Is(err, collector.ErrChanged) {
			t.Errorf("results of a changed survey: %v", err)
		}
	}
	second := change("version: 1\nq", "version: 2\nq")
	st = must(collector.Open(file, second))
	if n := must(st.Reports()); n != 0 {
		t.Errorf("version 2 begins with %d reports", n)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := collector.Open(file, s); !errors.Is(err, collector.ErrChanged) {
		t.Errorf("an older version: %v", err)
	}
	read := must(collector.Read(file, s))
	if n := must(read.Reports()); n != 10 {
		t.Errorf("version 1 has %d reports", n)
	}
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
}
