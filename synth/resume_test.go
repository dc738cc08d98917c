package synth

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dither/curator"
)

const killedHome, killedAfter = "DITHER_SYNTH_KILLED_HOME", "DITHER_SYNTH_KILLED_AFTER"

// killed is a request with some 20 steps.
func killed() Request { return Request{Table: "people", Rho: "20", Bins: 5} }

// spentRho returns what a home has spent.
func spentRho(t *testing.T, c *curator.Owner) string {
	t.Helper()
	b, err := c.Budget()
	if err != nil {
		t.Fatal(err)
	}
	return b.Spent.Rho
}

// A synthesis that is killed after any of its steps, or at any time, continues under the same reservation: recorded
// marginals stay as they are, the price is paid once, and the marginals so far make a table, free.
func TestKilledSynthesisContinues(t *testing.T) {
	if home := os.Getenv(killedHome); home != "" {
		synthesizeUntilKilled(t, home)
		return
	}
	all := 0
	t.Run("steps", func(t *testing.T) {
		steps := 3
		if os.Getenv("DITHER_LONG") != "" {
			steps = 1000 // until it finishes
		}
		all += killSyntheses(t, 7, steps, nil)
	})
	if os.Getenv("DITHER_LONG") != "" {
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 40 {
			t.Run("times", func(t *testing.T) {
				all += killSyntheses(t, uint64(50+i), 60, func() time.Duration {
					return time.Duration(random.Int64N(int64(120 * time.Millisecond)))
				})
			})
		}
	}
	t.Logf("%d kills", all)
}

// killSyntheses makes a home, and kills a synthesis of it most times: after one new step each time, or after a time. It
// checks the home after each kill, lets the synthesis finish, and returns the number of kills.
func killSyntheses(t *testing.T, seed uint64, most int, wait func() time.Duration) (kills int) {
	home := filepath.Join(t.TempDir(), "home")
	c, _ := townAt(t, home, inRho, "add-remove", seed, 300)
	id, last, seen := "", "", map[int]bool{}
	run := func() (finished bool) {
		t.Helper()
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledSynthesisContinues$")
		cmd.Env = append(os.Environ(), killedHome+"="+home)
		if wait == nil {
			cmd.Env = append(cmd.Env, killedAfter+"=1")
		}
		out := new(strings.Builder)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if wait != nil {
			time.Sleep(wait() * time.Duration(20+kills) / 20) // longer and longer, on a busy machine
			_ = cmd.Process.Kill()                            // unless it has just finished
		}
		err := cmd.Wait()
		if err == nil {
			return true
		}
		if !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%v\n%s", err, out)
		}
		kills++
		return false
	}
	check := func() {
		t.Helper()
		if spent := spentRho(t, c); spent != "20" && (spent != "0" || id != "") {
			t.Fatalf("after %d kills, %s is spent", kills, spent)
		}
		if id == "" { // the first reservation of this home
			for n := range 10 {
				if _, err := c.RecordedRounds(t.Context(), requestOf(t, c), fmt.Sprintf("r%d", n)); err == nil {
					id = fmt.Sprintf("r%d", n)
				}
			}
		}
		if id == "" {
			return
		}
		of, err := c.RecordedRounds(t.Context(), requestOf(t, c), id)
		if err != nil {
			t.Fatal(err)
		}
		text, usable := "", 0
		for _, m := range of.Marginals {
			if len(m.Keys) > 0 && m.Keys[0] < 4 { // it is neither the number of rows nor a shape
				usable++
			}
			text += fmt.Sprint(m.Keys, m.Values, ";")
		}
		if !strings.HasPrefix(text, last) {
			t.Fatalf("after %d kills, %s is recorded, and before %s", kills, text, last)
		}
		last, seen[len(of.Marginals)] = text, true
		result, err := Synthesize(t.Context(), c.Session(), Request{Table: "people", Bins: 5, From: []string{id}})
		if usable == 0 {
			if err == nil {
				t.Fatalf("rows of %s", text)
			}
		} else if err != nil || len(drawn(t, result)) == 0 {
			t.Fatalf("after %d kills: %v", kills, err)
		}
	}
	for range most {
		finished := run()
		if check(); finished {
			break
		}
	}
	r := killed()
	r.Resume = id != "" // on a busy machine, none may have come to its reservation
	result, err := Synthesize(t.Context(), c.Session(), r)
	if err != nil || id != "" && result.Release != id || spentRho(t, c) != "20" {
		t.Fatalf("%+v, %v, and %s is spent", result, err, spentRho(t, c))
	}
	check()
	again, err := Synthesize(t.Context(), c.Session(), r)
	if err != nil || !again.Replayed || fmt.Sprint(drawn(t, again)) != fmt.Sprint(drawn(t, result)) {
		t.Errorf("again: %+v, %v", again, err)
	}
	t.Logf("%d kills, after %d numbers of marginals", kills, len(seen))
	return kills
}

// requestOf returns the question of killed.
func requestOf(t *testing.T, c *curator.Owner) curator.Request {
	t.Helper()
	p, err := Explain(t.Context(), c.Session(), killed())
	if err != nil {
		t.Fatal(err)
	}
	return curator.Request{SQL: p.SQL}
}

// synthesizeUntilKilled kills itself after a new step, if the environment says so.
func synthesizeUntilKilled(t *testing.T, home string) {
	after := 0
	if os.Getenv(killedAfter) != "" {
		after = 1
	}
	c, err := curator.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	s, err := begin(t.Context(), c.Session(), killed())
	if err != nil {
		t.Fatal(err)
	}
	recorded, steps := s.rounds.Recorded, 0
	if err := s.rounds.Close(); err != nil {
		t.Fatal(err)
	}
	r := killed()
	r.Watch = func(Progress) {
		if steps++; after > 0 && steps >= recorded+after {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	if _, err := Synthesize(t.Context(), c.Session(), r); err != nil {
		t.Fatal(err)
	}
}

// Rows from earlier releases are free, and use all of their marginals. What has no meaning is refused, and spends
// nothing.
func TestRowsFromReleases(t *testing.T) {
	for i, budget := range []string{inRho, inEpsilon} {
		c, _ := town(t, budget, "add-remove", uint64(30+i), 500)
		var names []string
		var measured int
		for _, method := range []Method{Independent, MST, MWEM} {
			r := Request{Table: "people", Method: method, Epsilon: "4", Bins: 5}
			result, err := Synthesize(t.Context(), c.Session(), r)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, result.Release)
			for _, m := range result.Measured {
				if len(m.Columns) > 0 {
					measured++
				}
			}
		}
		b, err := c.Budget()
		if err != nil {
			t.Fatal(err)
		}
		from := func(change func(*Request)) (*Result, error) {
			r := Request{Table: "people", Bins: 5, From: names, ModelBytes: 1 << 24}
			change(&r)
			return Synthesize(t.Context(), c.Session(), r)
		}
		all, err := from(func(*Request) {})
		if err != nil || all.Release != strings.Join(names, ",") || len(all.Measured) != measured || !all.Replayed || all.Outdated {
			t.Fatalf("%+v, %v", all, err)
		}
		rows := fmt.Sprint(drawn(t, all))
		twice, err := from(func(r *Request) { r.From = append(names[:3:3], names...) })
		if err != nil || fmt.Sprint(drawn(t, twice)) != rows {
			t.Errorf("a release counts twice: %v", err)
		}
		if _, err := all.Report(); err != nil {
			t.Error(err)
		}
		if text, err := all.MarshalJSON(); err != nil || !strings.Contains(string(text), `"release":"`+all.Release+`"`) {
			t.Errorf("%s, %v", text, err)
		}
		for what, change := range map[string]func(*Request){
			"a price":       func(r *Request) { r.Epsilon = "1" },
			"fresh":         func(r *Request) { r.Fresh = true },
			"resume":        func(r *Request) { r.Resume = true },
			"a method":      func(r *Request) { r.Method = MST },
			"other bins":    func(r *Request) { r.Bins = 6 },
			"other columns": func(r *Request) { r.Columns = []string{"job", "age"} },
			"no release":    func(r *Request) { r.From = []string{"r1000"} },
			"no name":       func(r *Request) { r.From = []string{"people"} },
			"another table": func(r *Request) { r.Table = "persons" },
			"a small model": func(r *Request) { r.ModelBytes = 100 },
		} {
			var e *curator.Error
			if _, err := from(change); !errors.As(err, &e) || e.Code != curator.CodeUsage {
				t.Errorf("%s: %v", what, err)
			}
		}
		if now, err := c.Budget(); err != nil || now.Spent != b.Spent {
			t.Errorf("%+v is spent, after %+v (%v)", now.Spent, b.Spent, err)
		}
	}
}

// The keys of a recorded marginal may be in any order.
func TestRecordedKeysInAnyOrder(t *testing.T) {
	c, _ := town(t, inRho, "add-remove", 40, 500)
	p, err := Explain(t.Context(), c.Session(), Request{Table: "people", Method: Independent, Rho: "1", Bins: 5})
	if err != nil {
		t.Fatal(err)
	}
	q := curator.RoundsRequest{Request: curator.Request{SQL: p.SQL, Rho: "10"}, Candidates: [][]int{{3, 0, 1}, {2, 1}}, Steps: 1}
	r, err := c.Rounds(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.Measure(t.Context(), []int{0, 1}, curator.StepPrice{Rho: "10"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := Synthesize(t.Context(), c.Session(), Request{Table: "people", Bins: 5, From: []string{r.ID}})
	if err != nil {
		t.Fatal(err)
	}
	sizes := result.Plan.domain.Sizes()
	for i, keys := range q.Candidates {
		got := result.measured[i]
		for cell, v := range all[i].Values {
			at, rest := map[int]int{}, cell
			for k := len(keys) - 1; k >= 0; k-- {
				at[keys[k]], rest = rest%sizes[keys[k]], rest/sizes[keys[k]]
			}
			to := 0
			for _, a := range got.Attributes {
				to = to*sizes[a] + at[a]
			}
			if got.Values[to] != float64(v.Int64()) {
				t.Fatalf("marginal %v: cell %d is %v, and %v in the order %v", keys, cell, v, got.Values[to], got.Attributes)
			}
		}
	}
}

// A cancelled synthesis says what it measured, what that cost, and how to continue. It can be continued.
func TestCancelledSynthesisSaysHowToContinue(t *testing.T) {
	c, _ := town(t, inRho, "add-remove", 41, 300)
	r := killed()
	ctx, cancel := context.WithCancel(t.Context())
	r.Watch = func(p Progress) {
		if p.Measured == 7 {
			cancel()
		}
	}
	_, err := Synthesize(ctx, c.Session(), r)
	var e *curator.Error
	if !errors.As(err, &e) || e.Code != curator.CodeCancelled || !e.Charged {
		t.Fatalf("%v", err)
	}
	for _, part := range []string{
		"has measured 7 marginals (the last: the number of rows, job, married, age, size) for ρ = ", "its whole price of ρ = 20 ", "--resume", "--from r",
	} {
		if !strings.Contains(e.Message+"\n"+e.Hint, part) {
			t.Errorf("%q is missing in: %s\n%s", part, e.Message, e.Hint)
		}
	}
	r.Resume, r.Watch = true, nil
	if result, err := Synthesize(t.Context(), c.Session(), r); err != nil || spentRho(t, c) != "20" || result.Replayed {
		t.Errorf("%+v, %v", result, err)
	}
	r.Rho = "19"
	if _, err := Synthesize(t.Context(), c.Session(), r); err == nil || spentRho(t, c) != "20" {
		t.Errorf("--resume paid: %v, and %s is spent", err, spentRho(t, c))
	}
}

// A synthesis that was paid with other flags is refused, free, and says which flags can differ. The words of a message do
// not decide this.
func TestSynthesisOfOtherFlagsSaysHowToContinue(t *testing.T) {
	c, _ := town(t, inRho, "add-remove", 43, 300)
	r := killed()
	result, err := Synthesize(t.Context(), c.Session(), r)
	if err != nil {
		t.Fatal(err)
	}
	r.Target = "married"
	_, err = Synthesize(t.Context(), c.Session(), r)
	var e *curator.Error
	if !errors.Is(err, curator.ErrOtherStep) || !errors.As(err, &e) || e.Code != curator.CodeUsage {
		t.Fatal(err)
	}
	for _, part := range []string{"it was paid with other flags, such as --target", "--from " + result.Release} {
		if !strings.Contains(e.Hint, part) {
			t.Errorf("%q is missing in: %s", part, e.Hint)
		}
	}
	if spentRho(t, c) != "20" {
		t.Errorf("%s is spent", spentRho(t, c))
	}
	s, err := begin(t.Context(), c.Session(), killed())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.rounds.Close() }()
	other := s.interrupted(&curator.Error{Code: curator.CodeUsage, Message: "step 2 was recorded with other parameters"})
	if errors.Is(other, curator.ErrOtherStep) || strings.Contains(other.Error(), "other flags") {
		t.Errorf("by its words alone: %v", other)
	}
}
