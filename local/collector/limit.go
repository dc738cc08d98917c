package collector

import (
	"io"
	"log"
	"net"
	"net/netip"
	"sync"
	"time"
)

// limited is a listener that closes connections beyond its limits at once. It knows the addresses of open connections
// alone.
type limited struct {
	net.Listener
	most, each int

	mu   sync.Mutex
	open int
	by   map[netip.Prefix]int
}

func newLimited(l net.Listener, most, each int) *limited {
	return &limited{Listener: l, most: most, each: each, by: map[netip.Prefix]int{}}
}

// Accept returns the next connection within the limits.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := network(c.RemoteAddr())
		if l.enter(from) {
			return &counted{Conn: c, leave: func() { l.leave(from) }}, nil
		}
		_ = c.Close() // nothing was sent
	}
}

func (l *limited) enter(from netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.most || l.each > 0 && l.by[from] >= l.each {
		return false
	}
	l.open++
	l.by[from]++
	return true
}

func (l *limited) leave(from netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.by[from]--; l.by[from] == 0 {
		delete(l.by, from)
	}
}

// network returns an address of IPv4, or the /64 of one of IPv6, which one subscriber usually has.
func network(a net.Addr) netip.Prefix {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{}
	}
	ip := at.Addr().Unmap().WithZone("")
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(ip, bits).Masked()
}

// counted is a connection that leaves its listener once.
type counted struct {
	net.Conn
	once  sync.Once
	leave func()
}

// Close closes the connection.
func (c *counted) Close() error {
	c.once.Do(c.leave)
	return c.Conn.Close()
}

// bucket limits a rate, after a burst. It is not safe for concurrent use.
type bucket struct {
	rate, most, left float64 // a second, of the burst, and now
	filled           time.Time
}

func newBucket(rate, most float64) bucket { return bucket{rate, most, most, time.Now()} }

// take takes n, or nothing if less is left.
func (b *bucket) take(n float64) bool {
	now := time.Now()
	b.left = min(b.most, b.left+b.rate*now.Sub(b.filled).Seconds())
	b.filled = now
	if b.left < n {
		return false
	}
	b.left -= n
	return true
}

// silent returns a logger that drops its messages, which contain addresses.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }
