// Package pgtest runs a PostgreSQL server for a test binary, in a temporary folder, on a local socket. It ends with the
// tests.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a running server. Its owner's name is "owner", and it trusts everybody who can reach the socket.
type Server struct {
	folder string
	stop   chan struct{}
	done   chan struct{}
	icu    bool // whether it was built with ICU, as Debian's is
}

var (
	once    sync.Once
	running *Server
	failure error
)

// errAbsent: the Debian package is not installed.
var errAbsent = errors.New("PostgreSQL is not installed (apt-get install postgresql)")

// Main runs a binary's tests, and ends the server if they started one.
func Main(m *testing.M) {
	m.Run() // what it found stays the binary's result
	Stop()
}

// Stop ends the server, if one was started, for a binary whose tests something else runs. No test may follow.
func Stop() {
	if running != nil {
		close(running.stop)
		<-running.done
		_ = os.RemoveAll(running.folder)
	}
}

// Start returns the binary's server, which it starts the first time. Without the package it skips the test, or fails it
// if DITHER_TEST_NEEDS_POSTGRES is set; a server that does not start fails the test.
func Start(t testing.TB) *Server {
	t.Helper()
	once.Do(func() { running, failure = start() })
	if errors.Is(failure, errAbsent) && os.Getenv("DITHER_TEST_NEEDS_POSTGRES") == "" {
		t.Skip(failure)
	}
	if failure != nil {
		t.Fatal(failure)
	}
	return running
}

// URL is the URL of a database of the server for a user.
func (s *Server) URL(user, database string) string {
	return fmt.Sprintf("host=%s user=%s dbname=%s", s.folder, user, database)
}

// ICU reports whether the server knows ICU's collations: Debian's does.
func (s *Server) ICU() bool { return s.icu }

// NeedICU skips a test if the server does not know ICU's collations, or fails it if DITHER_TEST_NEEDS_POSTGRES is set,
// which asks for Debian's server.
func (s *Server) NeedICU(t testing.TB) {
	t.Helper()
	switch {
	case s.icu:
	case os.Getenv("DITHER_TEST_NEEDS_POSTGRES") == "":
		t.Skip("the server was built without ICU; Debian's postgresql has it")
	default:
		t.Fatal("the server was built without ICU; Debian's postgresql has it")
	}
}

// Database makes an empty database for a test, and returns its URL for the owner. Its texts are not ordered by bytes
// unless a statement says so.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("db%d", time.Now().UnixNano())
	collated := ""
	if s.icu {
		collated = " LOCALE_PROVIDER icu ICU_LOCALE 'de'"
	}
	Exec(t, s.URL("owner", "postgres"), "CREATE DATABASE "+name+" TEMPLATE template0"+collated)
	return s.URL("owner", name)
}

// Exec runs statements.
func Exec(t interface {
	Helper()
	Fatal(args ...any)
}, url, sql string,
) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := conn.Exec(ctx, sql).Close(); err != nil {
		t.Fatal(err)
	}
}

func start() (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	folder, err := makeFolder(os.TempDir())
	if err != nil {
		return nil, err
	}
	attr := mortal()
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		if attr.Credential, err = postgres(); err == nil {
			err = os.Chown(folder, int(attr.Credential.Uid), int(attr.Credential.Gid))
		}
		if err != nil {
			return nil, err
		}
	}
	s := &Server{folder: folder, stop: make(chan struct{}), done: make(chan struct{})}
	data := filepath.Join(folder, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8",
		"--locale=C", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = attr, folder
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", folder, "-c", "listen_addresses=", "-c",
		"fsync=off",
		"-c", "shared_buffers=32MB", "-c", "autovacuum=off")
	var log bytes.Buffer
	server.SysProcAttr, server.Dir, server.Stderr = attr, folder, &log
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // a mortal server dies with the thread that began it
		started <- server.Start()
		<-s.stop
		_ = server.Process.Signal(syscall.SIGQUIT)
		_ = server.Wait()
		close(s.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	for range 300 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		conn, err := pgconn.Connect(ctx, s.URL("owner", "postgres"))
		if err == nil {
			s.icu = conn.Exec(ctx, "SELECT 'a' COLLATE \"und-x-icu\"").Close() == nil
			_ = conn.Close(ctx)
			cancel()
			return s, nil
		}
		cancel()
		time.Sleep(50 * time.Millisecond)
	}
	close(s.stop)
	<-s.done
	return nil, fmt.Errorf("the server does not answer:\n%s", log.String())
}

// prefix begins the names of servers' folders.
const prefix = "dither-pg-"

// makeFolder makes a server's folder, and removes those that killed tests left. A socket's path may have 107 bytes; if
// the name of the temporary folder is too long, it uses another one.
func makeFolder(in string) (string, error) {
	if len(in) > 107-len("/"+prefix+"0123456789/.s.PGSQL.5432") {
		in = "/tmp"
	}
	left, _ := filepath.Glob(filepath.Join(in, prefix+"*"))
	for _, folder := range left {
		if abandoned(folder) {
			_ = os.RemoveAll(folder)
		}
	}
	return os.MkdirTemp(in, prefix)
}

// abandoned reports that no process serves a folder any more, and none is about to.
func abandoned(folder string) bool {
	info, err := os.Stat(folder)
	if err != nil || time.Since(info.ModTime()) < 10*time.Minute {
		return false
	}
	text, err := os.ReadFile(filepath.Join(folder, "data", "postmaster.pid"))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	return err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// binaries is the folder of the newest server, or DITHER_TEST_POSTGRES_BIN.
func binaries() (string, error) {
	if bin := os.Getenv("DITHER_TEST_POSTGRES_BIN"); bin != "" {
		return bin, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	version := func(path string) int { n, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))); return n }
	slices.SortFunc(found, func(a, b string) int { return version(a) - version(b) })
	for _, bin := range slices.Backward(found) {
		if _, err := os.Stat(filepath.Join(bin, "postgres")); err == nil {
			return bin, nil
		}
	}
	if initdb, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(initdb), nil
	}
	return "", errAbsent
}

// postgres is the system user of that name, which Debian's package creates.
func postgres() (*syscall.Credential, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}
