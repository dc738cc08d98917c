// Package pgtest runs a PostgreSQL server for a test binary. The server uses a temporary folder and a local socket,
// and ends with the tests.
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

// Server is a running server. Its superuser is named "owner". Anyone who can reach the socket may connect as any
// user, except that a user named Locked needs a password.
type Server struct {
	folder string
	stop   chan struct{}
	done   chan struct{}
	icu    bool // whether it was built with ICU, as Debian's server is
}

var (
	once    sync.Once
	running *Server
	failure error
)

// errAbsent means that PostgreSQL is not installed.
var errAbsent = errors.New("PostgreSQL is not installed (apt-get install postgresql)")

// Locked is the name of the user who needs a password. A test must create it.
const Locked = "locked"

// Main runs the tests of a binary, and ends the server if a test started it.
func Main(m *testing.M) {
	m.Run() // Go uses the result of m.Run as the exit code
	Stop()
}

// Stop ends the server, if it was started. It is for binaries that do not run their tests through Main. No test may
// follow.
func Stop() {
	if running != nil {
		close(running.stop)
		<-running.done
		_ = os.RemoveAll(running.folder)
	}
}

// Start returns the binary's server. The first call starts it. If PostgreSQL is not installed, Start skips the
// test, or fails it if DITHER_TEST_NEEDS_POSTGRES is set. If the server does not start, Start fails the test.
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

// URL returns the connection string for a user and a database.
func (s *Server) URL(user, database string) string {
	return fmt.Sprintf("host=%s user=%s dbname=%s", s.folder, user, database)
}

// ICU reports whether the server has the collations of ICU. Debian's server has them.
func (s *Server) ICU() bool { return s.icu }

// NeedICU skips a test if the server lacks the collations of ICU. If DITHER_TEST_NEEDS_POSTGRES is set, it fails
// the test.
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

// Database creates an empty database for a test, and returns its connection string for the user owner. If the
// server has ICU, texts are not ordered by bytes unless a statement demands it.
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

// Exec runs SQL statements. An error fails the test.
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
	access := "local all " + Locked + " scram-sha-256\nlocal all all trust\n"
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(access), 0o600); err != nil {
		return nil, err
	}
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", folder, "-c", "listen_addresses=", "-c",
		"fsync=off",
		"-c", "shared_buffers=32MB", "-c", "autovacuum=off")
	var log bytes.Buffer
	server.SysProcAttr, server.Dir, server.Stderr = attr, folder, &log
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the system ends the server with the thread that started it: see mortal
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

// prefix is the prefix of the names of servers' folders.
const prefix = "dither-pg-"

// makeFolder creates a server's folder, and removes folders that killed tests left. The path of a socket may have at
// most 107 bytes. If the path of the folder `in` is too long, makeFolder uses /tmp.
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

// abandoned reports whether no process uses a server's folder, or is about to.
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

// binaries returns the folder of PostgreSQL's programs: DITHER_TEST_POSTGRES_BIN if it is set, and otherwise the
// newest version that is installed.
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

// postgres returns the system user of this name, which Debian's package creates.
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
