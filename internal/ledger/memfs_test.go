package ledger

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// errInjected is the failure that a memFS was told to make.
var errInjected = errors.New("injected failure")

// fault is how an operation fails.
type fault struct {
	done  bool // it happens all the same
	short int  // of a write, so many bytes reach the file; −1 is none or all, by done
}

// memFS is a file system in memory that can fail any one operation and lose what was not synced. Only its tests'
// goroutine uses it; a lock that is taken twice is therefore a deadlock, and fails.
type memFS struct {
	t        *testing.T
	names    map[string]*inode // as processes see them
	durable  map[string]*inode // as a power cut would leave them
	ops      int               // counted from 1
	failAt   int
	fault    fault
	failNext int    // so many operations after the one that failed, another one fails, and is not done; 0 is none
	dies     bool   // the process ends at the operation that fails: no later one is done
	failed   string // the operation that failed
	writes   map[int]int
	changes  map[int]bool // the operations that change something, or make it durable

	capacity       int64 // of the disk, in bytes of files; 0 is no end
	cannotAllocate bool
	concurrent     bool           // used by several goroutines from here on, so that operations are not counted
	read           map[string]int // bytes of each file, and of each while it is locked, if set
}

type inode struct {
	data   []byte
	synced []byte
	locker *memFile
	space  int64 // that was allocated
}

// used is what files take.
func (m *memFS) used() (sum int64) {
	for _, n := range m.names {
		sum += max(int64(len(n.data)), n.space)
	}
	return sum
}

// room is how far a file can grow towards an end.
func (m *memFS) room(node *inode, end int64) int64 {
	if m.capacity == 0 {
		return end
	}
	free := m.capacity
	for _, n := range m.names {
		if n != node {
			free -= max(int64(len(n.data)), n.space)
		}
	}
	return min(end, max(free, node.space, int64(len(node.data))))
}

type memFile struct {
	fs     *memFS
	node   *inode
	name   string
	closed bool
}

func newMemFS(t *testing.T) *memFS {
	return &memFS{
		t: t, names: map[string]*inode{}, durable: map[string]*inode{}, writes: map[int]int{},
		changes: map[int]bool{},
	}
}

// step counts an operation; do says whether it happens, err how it ends.
func (m *memFS) step(what string) (do bool, err error) {
	if m.concurrent {
		return true, nil
	}
	m.ops++
	for _, verb := range []string{"write", "overwrite", "sync", "truncate", "allocate", "rename", "remove"} {
		if strings.HasPrefix(what, verb) {
			m.changes[m.ops] = true
		}
	}
	if m.dead() {
		return false, errInjected
	}
	if m.failNext > 0 && m.ops == m.failAt+m.failNext {
		m.failed += " and " + what
		return false, errInjected
	}
	if m.ops != m.failAt {
		return true, nil
	}
	m.failed = what
	return m.fault.done, errInjected
}

// dead reports that the process has ended, and that nothing is done any more.
func (m *memFS) dead() bool { return m.dies && m.failAt > 0 && m.ops > m.failAt }

// quiet reports that nothing will fail any more.
func (m *memFS) quiet() bool { return m.ops >= m.failAt+m.failNext }

// loss says what a crash does to bytes that were not synced.
type loss int

const (
	killed   loss = iota // only the process ends
	lostAll              // nothing unsynced survives, new names neither
	lostHalf             // half of the unsynced bytes survive; names do
	zeroed               // the length survives, the bytes do not; names do not
	even                 // every second sector of what was not synced survives, and the length; names do
	odd                  // the others
	losses
)

// sector is small, so that an entry has several.
const sector = 64

// survive is what a crash leaves of a file.
func survive(kind loss, synced, data []byte) []byte {
	if kind == lostAll || kind == zeroed && len(data) < len(synced) || kind == odd && len(data) < len(synced) {
		return slices.Clone(synced)
	}
	out := slices.Clone(data)
	first := 0 // byte that differs
	for first < len(data) && first < len(synced) && data[first] == synced[first] {
		first++
	}
	last := len(data) // just behind the last that does
	for len(data) == len(synced) && last > first && data[last-1] == synced[last-1] {
		last--
	}
	half := first + (last-first)/2
	if kind == lostHalf && len(data) > len(synced) {
		out = out[:max(half, len(synced))]
	}
	for i := first; i < min(last, len(out)); i++ {
		if kind == lostHalf && i < half || kind == even && i/sector%2 == 0 || kind == odd && i/sector%2 == 1 {
			continue
		}
		if out[i] = 0; i < len(synced) && kind != zeroed {
			out[i] = synced[i]
		}
	}
	return out
}

// crash drops every handle, and with it what the kind of crash drops.
func (m *memFS) crash(kind loss) {
	m.dies = false
	for _, node := range m.names {
		node.locker = nil
	}
	if kind == killed {
		return
	}
	if kind == lostAll || kind == zeroed {
		m.names = map[string]*inode{}
		for name, node := range m.durable {
			m.names[name] = node
		}
	}
	for _, node := range m.names {
		kept := survive(kind, node.synced, node.data)
		node.data, node.synced = kept, slices.Clone(kept)
	}
	m.durable = map[string]*inode{}
	for name, node := range m.names {
		m.durable[name] = node
	}
}

func (m *memFS) Open(name string, flag int, _ fs.FileMode) (file, error) {
	do, err := m.step("open " + filepath.Base(name))
	if !do {
		return nil, err
	}
	node, there := m.names[name]
	switch {
	case there && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case !there && flag&os.O_CREATE == 0:
		return nil, fs.ErrNotExist
	case !there:
		node = &inode{}
		m.names[name] = node
	case flag&os.O_TRUNC != 0:
		node.data, node.synced = nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &memFile{fs: m, node: node, name: name}, nil
}

func (m *memFS) Exists(name string) (bool, error) {
	_, err := m.step("exists")
	_, there := m.names[name]
	return there, err
}

func (m *memFS) Rename(from, to string) error {
	do, err := m.step("rename")
	if do {
		m.names[to] = m.names[from]
		delete(m.names, from)
	}
	return err
}

func (m *memFS) Remove(name string) error {
	do, err := m.step("remove")
	if do {
		delete(m.names, name)
	}
	return err
}

func (m *memFS) SyncDir(string) error {
	do, err := m.step("syncdir")
	if do {
		m.durable = map[string]*inode{}
		for name, node := range m.names {
			m.durable[name] = node
		}
	}
	return err
}

func (m *memFS) Same(name string, f file) (bool, error) {
	_, err := m.step("same")
	return m.names[name] == f.(*memFile).node, err
}

func (f *memFile) ReadAt(p []byte, offset int64) (int, error) {
	if _, err := f.fs.step("read " + filepath.Base(f.name)); err != nil {
		return 0, err
	}
	if offset >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[offset:])
	if f.fs.read != nil {
		if f.fs.read[filepath.Base(f.name)] += n; f.node.locker != nil {
			f.fs.read[filepath.Base(f.name)+", locked"] += n
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Write(p []byte) (int, error) {
	do, err := f.fs.step("write " + filepath.Base(f.name))
	if err == nil {
		f.fs.writes[f.fs.ops] = len(p)
	}
	n := 0
	switch {
	case err != nil && f.fs.fault.short >= 0 && f.fs.ops == f.fs.failAt:
		n = min(f.fs.fault.short, len(p))
	case do:
		n = len(p)
	}
	if most := f.fs.room(f.node, int64(len(f.node.data)+n)) - int64(len(f.node.data)); int64(n) > most {
		n, err = int(most), syscall.ENOSPC
	}
	f.node.data = append(slices.Clip(f.node.data), p[:n]...)
	return n, err
}

func (f *memFile) WriteAt(p []byte, offset int64) (int, error) {
	do, err := f.fs.step("overwrite " + filepath.Base(f.name))
	if err == nil {
		f.fs.writes[f.fs.ops] = len(p)
	}
	n := 0
	switch {
	case err != nil && f.fs.fault.short >= 0 && f.fs.ops == f.fs.failAt:
		n = min(f.fs.fault.short, len(p))
	case do:
		n = len(p)
	}
	f.node.data = slices.Clone(f.node.data)
	if more := int(offset) + n - len(f.node.data); more > 0 {
		f.node.data = append(f.node.data, make([]byte, more)...)
	}
	copy(f.node.data[offset:], p[:n])
	return n, err
}

func (f *memFile) Truncate(size int64) error {
	do, err := f.fs.step("truncate " + filepath.Base(f.name))
	if do {
		f.node.data, f.node.space = slices.Clone(f.node.data[:size]), 0
	}
	return err
}

func (f *memFile) Allocate(from, end int64) error {
	do, err := f.fs.step("allocate")
	if f.fs.cannotAllocate {
		return errNoAllocate
	}
	if do && f.fs.room(f.node, end) < end {
		return syscall.ENOSPC
	}
	if do {
		f.node.space = max(f.node.space, end)
	}
	return err
}

func (f *memFile) Sync() error {
	do, err := f.fs.step("sync " + filepath.Base(f.name))
	if do {
		f.node.synced = slices.Clone(f.node.data)
	}
	return err
}

func (f *memFile) Close() error {
	_, err := f.fs.step("close " + filepath.Base(f.name))
	if f.node.locker == f { // a close that reports a failure has closed
		f.node.locker = nil
	}
	f.closed = true
	return err
}

func (f *memFile) Size() (int64, error) {
	_, err := f.fs.step("size")
	return int64(len(f.node.data)), err
}

func (f *memFile) Lock(bool) error {
	do, err := f.fs.step("lock")
	if f.node.locker != nil && f.node.locker != f { // whoever has it may take it again
		f.fs.t.Fatal("a deadlock: the lock is held")
	}
	if do {
		f.node.locker = f
	}
	return err
}

func (f *memFile) TryLock() (bool, error) {
	do, err := f.fs.step("trylock")
	if !do || f.node.locker != nil {
		return false, err
	}
	f.node.locker = f
	return err == nil, err
}

func (f *memFile) Unlock() error {
	do, err := f.fs.step("unlock")
	if do && f.node.locker == f {
		f.node.locker = nil
	}
	return err
}
