package collector_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dither/local/collector"
	"dither/local/survey"
)

// TestMain runs a collector in place of the tests if a test starts this binary for it.
func TestMain(m *testing.M) {
	if file := os.Getenv("DITHER_TEST_COLLECTOR"); file != "" {
		st := must(collector.Open(file, must(survey.Parse([]byte(declaration)))))
		l := must(net.Listen("tcp", "127.0.0.1:0"))
		fmt.Println(l.Addr())
		patience := 3 * time.Second
		if os.Getenv("DITHER_LONG") != "" {
			patience = 20 * time.Second
		}
		if err := collector.NewServer(st, collector.Options{HeaderTimeout: patience, PerAddress: -1}).Serve(l); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// A collector that is killed at any moment loses no acknowledged report, and counts none twice. Senders repeat what was
// not answered.
func TestKilledCollectorLosesNothing(t *testing.T) {
	kills := 4
	if os.Getenv("DITHER_LONG") != "" {
		kills = 500
	}
	s := must(survey.Parse([]byte(declaration)))
	file := filepath.Join(t.TempDir(), "store")
	const senders = 4
	var mu sync.Mutex
	sent := 0
	waiting := make([][]survey.Report, senders) // the batch of each sender that was not answered
	for kill := range kills {
		child, addr := startChild(t, file)
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		for i := range senders {
			wait.Go(func() {
				for ctx.Err() == nil {
					if waiting[i] == nil {
						waiting[i] = reports(s, []int{1, 3, 500}[(kill+i)%3])
						mu.Lock()
						sent += len(waiting[i])
						mu.Unlock()
					}
					if !posted(t, addr, s, waiting[i]) {
						return
					}
					waiting[i] = nil
				}
			})
		}
		time.Sleep(time.Duration(5+kill*37%90) * time.Millisecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cancel()
		_ = child.Wait() // it was killed
		wait.Wait()
	}
	st := must(collector.Open(file, s))
	for _, w := range waiting {
		must(st.Add(t.Context(), w))
	}
	if n, ids := must(st.Reports()), must(st.Rows("ids")); n != int64(sent) || ids != n {
		t.Errorf("%d reports and %d ids, but %d were acknowledged in the end", n, ids, sent)
	} else {
		t.Logf("%d kills, %d reports: 0 lost, 0 twice", kills, n)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// startChild starts a collector in a process of its own, and returns its address.
func startChild(t *testing.T, file string) (child *exec.Cmd, addr string) {
	t.Helper()
	child = exec.Command(must(os.Executable()))
	child.Env = append(os.Environ(), "DITHER_TEST_COLLECTOR="+file)
	child.Stderr = os.Stderr
	out := must(child.StdoutPipe())
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	return child, strings.TrimSpace(must(bufio.NewReader(out).ReadString('\n')))
}

// posted sends a batch, and reports whether all of it is acknowledged: accepted now, or before an earlier kill.
func posted(t *testing.T, addr string, s *survey.Survey, batch []survey.Report) bool {
	answer, err := http.Post("http://"+addr+"/v1/reports", collector.BinaryType, bytes.NewReader(s.Binary(batch)))
	if err != nil {
		return false
	}
	defer func() { _ = answer.Body.Close() }()
	switch answer.StatusCode {
	case http.StatusOK, http.StatusConflict:
		return true
	}
	t.Errorf("status %d", answer.StatusCode)
	return false
}
