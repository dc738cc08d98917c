package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dither/internal/cli/console"
	"dither/internal/ledger"
)

const (
	killPolicy = `
version: 1
population: {name: people}
budget: {epsilon: %s}
price: {default: 0.1, maximum: 0.5}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      age: {type: integer, bounds: [0, 115]}
      region: {type: text, values: [north, south]}
`
	killSource   = "age,region\n30,north\n40,south\n99,north\n20,south\n"
	killQuestion = "SELECT region, COUNT(*) AS n, SUM(age) AS s FROM people GROUP BY region"
)

// killPrices are added up exactly, whatever order they come in.
var killPrices = []string{"0.01", "0.03", "0.1", "0.13"}

// TestKill kills whole `dither query --fresh` processes while others answer from the same home: 60 times, or 300 with
// DITHER_LONG=1. Each home serves 40 processes, and every second one runs out of budget meanwhile. DITHER_SEED repeats the
// processes' fates; when they come true depends on the machine.
func TestKill(t *testing.T) {
	want, seed := 60, rand.Uint64()
	if os.Getenv("DITHER_LONG") == "1" {
		want = 300
	}
	if text := os.Getenv("DITHER_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("DITHER_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var all tally
	homes := 0
	for ; all.kills < want && homes < want; homes++ {
		budget := "50"
		if homes%2 == 1 {
			budget = "0.9"
		}
		h := newKillHome(t, budget)
		h.life.Store(int64(100 * time.Millisecond)) // until one has lived
		h.run(t, random, 40)
		all.add(h.check(t))
		h.goesOn(t)
		if t.Failed() {
			t.Fatalf("home %d, with a budget of %s", homes, budget)
		}
	}
	t.Logf("%d homes: %+v", homes, all)
	// Kills that all came too early, or too late, would have shown nothing.
	if all.kills < want || all.unreleased == 0 || all.told == 0 {
		t.Errorf("too few were killed, or none between its reservation and its release, or none that had answered")
	}
}

// tally counts what the processes of some homes came to.
type tally struct {
	kills      int
	reserved   int // reservations
	unreleased int // of them, those without a release: killed in between
	untold     int // releases that no answer was read of: killed in between
	told       int // answers of processes that were killed nevertheless
	exhausted  int // processes that were told so
	torn       int // entries cut by a kill
}

func (a *tally) add(b tally) {
	a.kills += b.kills
	a.reserved += b.reserved
	a.unreleased += b.unreleased
	a.untold += b.untold
	a.told += b.told
	a.exhausted += b.exhausted
	a.torn += b.torn
}

// fate is what one process asks, at which price, and when it is killed.
type fate struct {
	question string // the same for all, but for a comment that tells them apart
	epsilon  string
	kill     moment
	after    float64 // of a process's life, from the moment on
}

type moment int

const (
	never    moment = iota
	started         // at any time of its life
	reserved        // when its reservation stands in the ledger's file, or soon after
	spoke           // as soon as it has said something
)

func newFate(random *rand.Rand, number int) fate {
	f := fate{question: fmt.Sprintf("%s -- %d", killQuestion, number), epsilon: killPrices[random.IntN(len(killPrices))]}
	switch n := random.IntN(10); {
	case n < 3:
		f.kill, f.after = started, 1.1*random.Float64()
	case n < 6:
		f.kill, f.after = reserved, 0.25*random.Float64() // which is about what is left of its life
	case n < 8:
		f.kill = spoke
	}
	return f
}

// said is what one process said, and how it ended.
type said struct {
	fate
	stdout, stderr []byte
	killed         bool
	code           int
}

// killHome is a home that processes answer from until they are killed.
type killHome struct {
	dir  string
	life atomic.Int64 // nanoseconds that the newest process lived that was left to finish

	mu    sync.Mutex
	heard []said
}

func newKillHome(t *testing.T, budget string) *killHome {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // each home's own: all seal the same rows
	h := &killHome{dir: filepath.Join(t.TempDir(), "home")}
	h.must(t, "init", h.dir)
	h.write(t, "policy.yaml", fmt.Sprintf(killPolicy, budget))
	h.write(t, "people.csv", killSource)
	h.must(t, "seal")
	return h
}

func (h *killHome) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// must runs dither to its end, which must be a good one.
func (h *killHome) must(t *testing.T, args ...string) []byte {
	t.Helper()
	s := h.start(t, fate{}, args...)
	if s.code != console.ExitAnswered {
		t.Fatalf("dither %s: exit %d: %s%s", strings.Join(args, " "), s.code, s.stdout, s.stderr)
	}
	return s.stdout
}

// run runs processes, four at once.
func (h *killHome) run(t *testing.T, random *rand.Rand, processes int) {
	fates := make(chan fate, processes)
	for number := range processes {
		fates <- newFate(random, number)
	}
	close(fates)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for f := range fates {
				s := h.start(t, f, "query", "--fresh", "--format", "json", "--epsilon", f.epsilon, f.question)
				h.mu.Lock()
				h.heard = append(h.heard, s)
				h.mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// start runs dither, sees to its fate, and returns what it said. (testscript.Main puts dither on the path: it is this test's
// own program.)
func (h *killHome) start(t *testing.T, f fate, args ...string) said {
	cmd := exec.Command("dither", append([]string{"-C", h.dir}, args...)...)
	out := &mouth{spoke: make(chan struct{})}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &stderr
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")) // else it is its end that is hit mostly
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return said{}
	}
	done := make(chan struct{})
	var killer sync.WaitGroup
	if f.kill != never {
		killer.Go(func() {
			delay := time.Duration(f.after * float64(h.life.Load()))
			if h.await(f, out.spoke, done) && sleep(delay, done) {
				_ = cmd.Process.Kill() // it may have ended
			}
		})
	}
	_ = cmd.Wait() // killed, as a rule
	close(done)
	killer.Wait()
	if f.kill == never && len(args) > 0 && args[0] == "query" {
		h.life.Store(int64(time.Since(began)))
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return said{
		fate: f, stdout: out.text.Bytes(), stderr: stderr.Bytes(),
		killed: ok && status.Signaled(), code: cmd.ProcessState.ExitCode(),
	}
}

// await waits for the moment of f, and reports whether it came before the process was done.
func (h *killHome) await(f fate, speaks, done <-chan struct{}) bool {
	switch f.kill {
	case reserved:
		for !h.holds(f.question) {
			if !sleep(200*time.Microsecond, done) {
				return false
			}
		}
	case spoke:
		select {
		case <-speaks:
		case <-done:
			return false
		}
	}
	return true
}

// holds reports whether a question stands in the ledger's file.
func (h *killHome) holds(question string) bool {
	text, err := os.ReadFile(filepath.Join(h.dir, "ledger.log"))
	return err == nil && bytes.Contains(text, []byte(question+`"`))
}

// sleep reports whether it slept undisturbed.
func sleep(d time.Duration, done <-chan struct{}) bool {
	select {
	case <-done:
		return false
	case <-time.After(d):
		return true
	}
}

// mouth keeps what a process says, and tells when it begins to speak.
type mouth struct {
	text  bytes.Buffer
	once  sync.Once
	spoke chan struct{}
}

func (m *mouth) Write(p []byte) (int, error) {
	m.once.Do(func() { close(m.spoke) })
	return m.text.Write(p)
}

// spoken is the answer or error that a process printed.
type spoken struct {
	Release  string
	Replayed bool
	Rows     []struct {
		Region string
		N, S   struct{ Value json.Number }
	}
	Error *struct{ Code string }
}

// numbers are an answer's, as the ledger writes them.
func (a *spoken) numbers() string {
	cells := make([][]string, len(a.Rows))
	for i, r := range a.Rows {
		cells[i] = []string{r.N.Value.String(), r.S.Value.String()}
	}
	text, _ := json.Marshal(cells) // texts alone
	return string(text)
}

// hear reads what a process said: nil if it was killed before it had said it all.
func (s *said) hear(t *testing.T) *spoken {
	t.Helper()
	if s.killed && !bytes.HasSuffix(s.stdout, []byte("\n")) {
		return nil
	}
	var a spoken
	d := json.NewDecoder(bytes.NewReader(s.stdout))
	if err := d.Decode(&a); err != nil || d.More() || len(s.stderr) > 0 {
		t.Errorf("a process said %q and %q (exit %d): %v", s.stdout, s.stderr, s.code, err)
		return nil
	}
	code := console.ExitAnswered
	if a.Error != nil {
		code = console.ExitExhausted
	}
	if a.Error != nil && a.Error.Code != "exhausted" || !s.killed && s.code != code {
		t.Errorf("a process said %s and exited %d", s.stdout, s.code)
	}
	return &a
}

// reservation is what a process asked, and its price.
type reservation struct{ question, epsilon string }

// book is what the ledger says: reservations and releases by the reservation's index, and the sum of all charges.
type book struct {
	reservations map[uint64]reservation
	releases     map[uint64]string
	newest       map[string]uint64 // by price
	charged      *big.Rat
	torn         int
}

func (h *killHome) read(t *testing.T) *book {
	t.Helper()
	l, err := ledger.Open(h.dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	b := &book{
		reservations: map[uint64]reservation{}, releases: map[uint64]string{}, newest: map[string]uint64{}, charged: new(big.Rat),
	}
	err = l.Entries(func(e ledger.Entry) error {
		switch body := e.Body.(type) {
		case ledger.Reservation:
			b.reservations[e.Index] = reservation{body.Question, b.charge(t, body.Loss)}
		case ledger.Release:
			r, ok := b.reservations[body.Reservation]
			if _, twice := b.releases[body.Reservation]; !ok || twice {
				t.Errorf("the release %d has no reservation of its own", e.Index)
			}
			b.releases[body.Reservation] = string(body.Values)
			b.newest[r.epsilon] = body.Reservation
		case ledger.Torn:
			b.charge(t, body.Loss)
			if !body.Unacknowledged {
				b.torn++
			}
		}
		return nil
	})
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// charge adds up a loss, in the form that the ledger's file has.
func (b *book) charge(t *testing.T, loss any) (epsilon string) {
	t.Helper()
	text, err := json.Marshal(loss)
	if err != nil {
		t.Fatal(err)
	}
	var l struct{ Epsilon string }
	unmarshal(t, text, &l)
	x, ok := new(big.Rat).SetString(l.Epsilon)
	if !ok {
		t.Fatalf("the ledger charges %s", text)
	}
	b.charged.Add(b.charged, x)
	return l.Epsilon
}

// check holds the ledger to what processes said before they ended, one way or another.
func (h *killHome) check(t *testing.T) tally {
	t.Helper()
	var verified struct{ Fragment int64 }
	unmarshal(t, h.must(t, "ledger", "verify", "--format", "json"), &verified)
	b := h.read(t)
	n := tally{reserved: len(b.reservations), unreleased: len(b.reservations) - len(b.releases), untold: len(b.releases), torn: b.torn}
	spent, budget := h.spent(t)
	answers := map[string]bool{}
	for _, s := range h.heard {
		if s.killed {
			n.kills++
		}
		a := s.hear(t)
		switch {
		case a == nil:
			continue
		case a.Error != nil:
			n.exhausted++
			price, _ := new(big.Rat).SetString(s.epsilon)
			if price.Add(price, spent).Cmp(budget) <= 0 {
				t.Errorf("a process was refused %s with %s spent of %s", s.epsilon, spent, budget)
			}
			continue
		case s.killed:
			n.told++
		}
		n.untold--
		if answers[a.Release] || a.Replayed {
			t.Errorf("the answer %s was given twice", a.Release)
		}
		answers[a.Release] = true
		if r := h.recorded(t, b, a); r.question != s.question || r.epsilon != s.epsilon {
			t.Errorf("the answer %s is to %q at %s, not %q at %s", a.Release, r.question, r.epsilon, s.question, s.epsilon)
		}
	}
	questions := map[string]bool{}
	for _, r := range b.reservations {
		if questions[r.question] {
			t.Errorf("the process that asked %q reserved twice", r.question)
		}
		questions[r.question] = true
	}
	if n.reserved > len(h.heard) || len(b.releases) > n.reserved {
		t.Errorf("%d processes, %d reservations, %d releases", len(h.heard), n.reserved, len(b.releases))
	}
	if spent.Cmp(budget) > 0 {
		t.Errorf("spent is %s of %s", spent, budget)
	}
	if verified.Fragment == 0 && spent.Cmp(b.charged) != 0 { // else a fragment counts too, which is no entry yet
		t.Errorf("spent is %s; the entries say %s", spent, b.charged)
	}
	return n
}

// recorded checks that an answer stands in the ledger as it was given, and returns its reservation.
func (h *killHome) recorded(t *testing.T, b *book, a *spoken) reservation {
	t.Helper()
	index, err := strconv.ParseUint(strings.TrimPrefix(a.Release, "r"), 10, 64)
	if err != nil {
		t.Errorf("an answer is called %q", a.Release)
	}
	if values, ok := b.releases[index]; !ok {
		t.Errorf("the answer %s got out and is not in the ledger", a.Release)
	} else if values != a.numbers() {
		t.Errorf("the answer %s says %s, the ledger %s", a.Release, a.numbers(), values)
	}
	return b.reservations[index]
}

// spent is the account as `dither budget` gives it.
func (h *killHome) spent(t *testing.T) (spent, budget *big.Rat) {
	t.Helper()
	var account struct{ Spent, Budget struct{ Epsilon json.Number } }
	unmarshal(t, h.must(t, "budget", "--format", "json"), &account)
	spent, budget = new(big.Rat), new(big.Rat)
	for to, from := range map[*big.Rat]json.Number{spent: account.Spent.Epsilon, budget: account.Budget.Epsilon} {
		if _, ok := to.SetString(from.String()); !ok {
			t.Fatalf("the budget says %q", from)
		}
	}
	return spent, budget
}

func unmarshal(t *testing.T, text []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// goesOn checks that the home is of use after all that: old answers are given again, new questions and a new version are
// answered or refused for want of budget, and nothing else.
func (h *killHome) goesOn(t *testing.T) {
	t.Helper()
	b := h.read(t)
	for price, index := range b.newest {
		var a spoken
		unmarshal(t, h.must(t, "query", "--format", "json", "--epsilon", price, killQuestion), &a)
		if !a.Replayed || a.Release != fmt.Sprintf("r%d", index) {
			t.Errorf("asked again at %s: %s (replayed %v), want r%d", price, a.Release, a.Replayed, index)
		}
		h.recorded(t, b, &a)
	}
	h.asks(t)
	h.write(t, "people.csv", killSource+"50,south\n")
	h.must(t, "seal")
	h.asks(t)
	h.must(t, "ledger", "verify")
	left, err := filepath.Glob(filepath.Join(h.dir, "tmp", "*"))
	sealing, sealErr := filepath.Glob(filepath.Join(h.dir, "sealed", "*", ".sealing-*"))
	if left = append(left, sealing...); err != nil || sealErr != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v, %v)", left, err, sealErr)
	}
}

// asks asks one question more.
func (h *killHome) asks(t *testing.T) {
	t.Helper()
	s := h.start(t, fate{}, "query", "--fresh", "--format", "json", "--epsilon", "0.1", killQuestion)
	if a := s.hear(t); a != nil && a.Error == nil {
		h.recorded(t, h.read(t), a)
	}
}
