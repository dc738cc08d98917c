package curator

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk asks questions on a disk that is full, as the kernel's limit on the size of files makes it: each is
// refused, and nothing is charged, though one
// may cost the whole budget; what was answered is given again; and when there is room, the same curator goes on.
func TestFullDisk(t *testing.T) {
	if home := os.Getenv("DITHER_FULL_HOME"); home != "" {
		askOnAFullDisk(t, home)
		return
	}
	home := newHome(t)
	write(t, home, "policy.yaml", strings.Replace(testPolicy, "price: {default: 0.1, maximum: 0.5}", "price: {default: 0.01}", 1))
	c := openHome(t, home)
	if _, err := c.AcceptPolicy(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for range 20 { // so that the log is longer than the head file
		must[*Release](t)(c.Answer(t.Context(), Question{SQL: fullQuestion, Fresh: true}))
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestFullDisk$", "-test.v") // the limit is of a whole process
	child.Env = append(os.Environ(), "DITHER_FULL_HOME="+home)
	out, err := child.CombinedOutput()
	if n := strings.Count(string(out), "ledger, retry true, charged false: the ledger could not be written because its disk is full: nothing was recorded or charged"); err != nil || n != 6 {
		t.Errorf("%d refusals, %v:\n%s", n, err, out)
	}
	if got := spent(t, c); got != "0.23" {
		t.Errorf("spent %s", got)
	}
}

const fullQuestion = "SELECT COUNT(*) FROM people"

// askOnAFullDisk is the child.
func askOnAFullDisk(t *testing.T, home string) {
	signal.Ignore(syscall.SIGXFSZ)
	c := openHome(t, home)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	fill := func() {
		info, err := os.Stat(filepath.Join(home, "ledger.log"))
		full := before
		if err == nil {
			full.Cur = uint64(info.Size()) + 100
			err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fill()
	for i := range 6 {
		_, err := c.Answer(t.Context(), Question{SQL: fmt.Sprintf("%s WHERE age > %d", fullQuestion, i)})
		e := c.public(err)
		fmt.Printf("%s, retry %t, charged %t: %s\n", e.Code, e.Retry, e.Charged, e.Message)
	}
	if r, err := c.Answer(t.Context(), Question{SQL: fullQuestion}); err != nil || !r.Replayed {
		t.Errorf("a replay: %+v, %v", r, err)
	}
	if got := spent(t, c); got != "0.2" {
		t.Errorf("spent %s", got)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: fullQuestion, Fresh: true}); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	fast := *inside(c).Engine // the disk is full when the answer is there, and its price is charged
	*inside(c).Engine = during{fast, fill}
	_, err := c.Answer(t.Context(), Question{SQL: fullQuestion, Fresh: true})
	if e := c.public(err); e.Code != CodeLedger || e.Retry || !e.Charged || !strings.Contains(e.Message, "its price stays spent") {
		t.Errorf("an answer that is not recorded: %+v", e)
	}
	*inside(c).Engine = fast
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Answer(t.Context(), Question{SQL: fullQuestion, Fresh: true}); err != nil || spent(t, c) != "0.23" {
		t.Errorf("spent %s; %v", spent(t, c), err)
	}
}

// TestMost: the room that is assured is enough for what is recorded, and not far more.
func TestMost(t *testing.T) {
	c := openHome(t, newHome(t))
	for _, sql := range []string{
		fullQuestion, "SELECT region, AVG(height), SUM(age) FROM people GROUP BY region", "SELECT SUM(cost), COUNT(DISTINCT person) FROM visits",
	} {
		a := must[*asked](t)(c.ask(Question{SQL: sql}))
		r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql}))
		answer, ok, err := c.ledger.Find(a.look.Key())
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		values, err := answer.Values()
		if most := inside(nil).Most(a.look); err != nil || int64(len(values)) > most || most > 100*int64(len(values)) {
			t.Errorf("%s: %d bytes, assured were %d (%s, %v)", sql, len(values), most, r.ID, err)
		}
	}
}
