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

// PostgreSQL's parser recurses on the C stack of the calling thread. An overflow of that stack kills the process,
// and cannot be recovered. A parser that is called directly from Go runs on any thread that the Go scheduler
// chooses. The stack of such a thread has the C library's default size. (With glibc that is RLIMIT_STACK at the
// start of the process, usually 8 MiB, but 2 MiB under "ulimit -s unlimited". With musl it is 128 KiB. The main
// thread has RLIMIT_STACK.) So that the environment does not matter, this package creates a thread for the parser
// with pthread_create and a stack of stackSize. That thread calls back into Go and stays there: a goroutine that C
// called is locked to its thread while the call lasts. A C function called from such a goroutine uses the rest of
// the same C stack.
//
// A single thread also limits two leaks of libpg_query. On every thread that calls it, it allocates memory contexts
// and one pthread key. A process has 1,024 keys, and the library never frees them.
const stackSize = 16 << 20

// parsed is the result of a job.
type parsed struct {
	scan *pg.ScanResult
	tree *pg.ParseResult
	err  error
}

// job is a request to the parser's thread: to scan the text, and to parse it if it has at most maxTokens tokens.
type job struct {
	sql       string
	maxTokens int
}

var (
	parserMu    sync.Mutex // held while jobs are sent, and their results received and cached
	kept        = map[job]parsed{}
	keptBytes   int // the size of the cached texts
	startParser = sync.OnceValue(func() error {
		if errno := C.ditherParserThread(stackSize); errno != 0 {
			return fmt.Errorf("start the parser's thread: %w", syscall.Errno(errno))
		}
		return nil
	})
	jobs    = make(chan []job)
	answers = make(chan []parsed)
)

// maxKeptBytes is the largest total size of the texts whose trees are cached. Trees are some hundred times as large
// as their texts. A text longer than the limit is cached alone.
const maxKeptBytes = 32 << 10

// parseOnThread scans and parses a text on the parser's thread. If the text has too many tokens, the tree and err
// are both nil. The result is shared with the cache and must not be changed. The cache pays off because one
// question is planned several times, for example at several prices.
func parseOnThread(j job) parsed { return parseTogether([]job{j})[0] }

// parseTogether is parseOnThread for several texts. It wakes the thread once, because waking it takes longer than
// parsing most texts.
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
