package query

// #cgo LDFLAGS: -lpthread
// #include "thread.h"
import "C"

import (
	"fmt"
	"sync"
	"syscall"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// PostgreSQL's parser recurses on the C stack of the calling thread. Overflowing that stack kills the process, and
// nothing can recover from it. Called directly from Go, the parser runs on whichever thread the Go scheduler picked:
// one that the Go runtime made with the C library's default size (glibc: RLIMIT_STACK when the process started, usually
// 8 MiB, but 2 MiB under "ulimit -s unlimited"; musl: 128 KiB), or the main thread (RLIMIT_STACK). So this package does
// not depend on the environment: it makes a thread for the parser with pthread_create and a stack of stackSize. That
// thread calls back into Go and stays there (a goroutine that C called is locked to its thread for as long as the call
// lasts). A C function called from such a goroutine runs on the rest of the same C stack.
//
// A single thread also contains two habits of libpg_query: on every thread that calls it, it allocates memory contexts
// and one pthread key. A process has 1,024 keys, and the library never frees them.
const stackSize = 16 << 20

// parsed is the result of the parser's thread.
type parsed struct {
	scan *pg.ScanResult
	tree *pg.ParseResult
	err  error
}

// job is a request to that thread: to scan, and to parse if there are at most maxTokens tokens.
type job struct {
	sql       string
	maxTokens int
}

var (
	parserMu    sync.Mutex // held while jobs are sent and their results received and kept
	kept        = map[job]parsed{}
	keptBytes   int // of their texts
	startParser = sync.OnceValue(func() error {
		if errno := C.ditherParserThread(stackSize); errno != 0 {
			return fmt.Errorf("start the parser's thread: %w", syscall.Errno(errno))
		}
		return nil
	})
	jobs    = make(chan []job)
	answers = make(chan []parsed)
)

// maxKeptBytes bounds the texts whose trees are kept. Trees are some hundred times as large as their texts. A longer
// text is kept alone.
const maxKeptBytes = 32 << 10

// parseOnThread scans and parses on the parser's thread. If the text has too many tokens, the tree and err are both
// nil. The result is shared and must not be changed: it is kept for a while, because one question is planned several
// times, for example at several prices.
func parseOnThread(j job) parsed { return parseTogether([]job{j})[0] }

// parseTogether is parseOnThread for several texts. Waking the thread takes longer than most texts do, so it is woken
// once.
func parseTogether(js []job) []parsed {
	out := make([]parsed, len(js))
	if err := startParser(); err != nil {
		for i := range out {
			out[i].err = err
		}
		return out
	}
	parserMu.Lock()
	defer parserMu.Unlock()
	var asked []job
	var places []int
	for i, j := range js {
		if p, ok := kept[j]; ok {
			out[i] = p
			continue
		}
		asked, places = append(asked, j), append(places, i)
	}
	if len(asked) == 0 {
		return out
	}
	jobs <- asked
	for i, p := range <-answers {
		out[places[i]] = p
		if keptBytes += len(asked[i].sql); keptBytes > maxKeptBytes {
			clear(kept)
			keptBytes = len(asked[i].sql)
		}
		kept[asked[i]] = p
	}
	return out
}

//export queryParserLoop
func queryParserLoop() {
	for js := range jobs {
		out := make([]parsed, len(js))
		for i, j := range js {
			out[i] = j.parsed()
		}
		answers <- out
	}
}

func (j job) parsed() (p parsed) {
	p.scan, p.err = pg.Scan(j.sql)
	if p.err == nil && len(p.scan.GetTokens()) <= j.maxTokens {
		p.tree, p.err = pg.Parse(rewritten(j.sql, p.scan.GetTokens()))
	}
	return p
}
