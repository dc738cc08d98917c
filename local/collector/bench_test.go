package collector_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"dither/local/collector"
	"dither/local/survey"
)

// BenchmarkCollector posts durable reports over HTTP from 64 senders on the same machine, singly as JSON and in batches
// in the binary form. The metric is reports/s.
func BenchmarkCollector(b *testing.B) {
	s := must(survey.Parse([]byte(declaration)))
	for _, size := range []int{1, 1000} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			st := must(collector.Open(filepath.Join(b.TempDir(), "store"), s))
			server := collector.NewServer(st, collector.Options{PerAddress: -1})
			l := must(net.Listen("tcp", "127.0.0.1:0"))
			go func() { _ = server.Serve(l) }()
			bodies := make(chan []byte, b.N)
			for range b.N {
				if some := reports(s, size); size == 1 {
					bodies <- must(s.JSON(some[0]))
				} else {
					bodies <- s.Binary(some)
				}
			}
			close(bodies)
			kind := collector.BinaryType
			if size == 1 {
				kind = "application/json"
			}
			client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
			b.ResetTimer()
			var wait sync.WaitGroup
			for range 64 {
				wait.Go(func() {
					for body := range bodies {
						answer, err := client.Post("http://"+l.Addr().String()+"/v1/reports", kind, bytes.NewReader(body))
						if err != nil {
							b.Error(err)
							return
						}
						_, _ = io.Copy(io.Discard, answer.Body) // keeps the connection
						if _ = answer.Body.Close(); answer.StatusCode != http.StatusOK {
							b.Errorf("status %d", answer.StatusCode)
							return
						}
					}
				})
			}
			wait.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "reports/s")
			if n := must(st.Reports()); n != int64(b.N*size) {
				b.Errorf("%d reports are stored, want %d", n, b.N*size)
			}
			client.CloseIdleConnections()
			_ = l.Close()
			if err := st.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}
