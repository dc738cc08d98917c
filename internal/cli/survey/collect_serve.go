package survey

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"strings"
	"time"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/local/collector"
	"dither/local/collector/page"
)

// graceful is the time that requests in progress get when the collector stops.
const graceful = 20 * time.Second

// collectServe receives reports until a signal stops it.
func collectServe(s *console.Console, o *collectOptions) (err error) {
	if err := o.storeFlag(); err != nil {
		return err
	}
	options, err := o.serverOptions()
	if err != nil {
		return err
	}
	l, config, err := o.listen()
	if err != nil {
		return err
	}
	options.TLS, options.Page = config, page.Handler(page.Standard)
	scheme := "http"
	if config != nil {
		scheme = "https"
	}
	defer func() { _ = l.Close() }() // the server closes it too
	st, err := collector.Open(o.store, o.survey)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	n, err := st.Reports()
	if err != nil {
		return err
	}
	server := collector.NewServer(st, options)
	s.Print("collecting %s at %s://%s, with %s in %s\n", o.survey.Name, scheme, l.Addr(), render.Plural(int(n), "report"), o.store)
	ctx := s.Context()
	stopped, folding := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(folding)
		o.fold(ctx, s, st)
	}()
	go func() {
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceful)
		defer cancel()
		stopped <- server.Shutdown(stop)
	}()
	if err := server.Serve(l); err != nil {
		return err
	}
	if err := <-stopped; err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	<-folding
	s.Note("stopped: all acknowledged reports are in %s\n", o.store)
	return nil
}

// fold folds old reports now and every quarter of an hour, until the context is done.
func (o *collectOptions) fold(ctx context.Context, s *console.Console, st *collector.Store) {
	tick := time.NewTicker(15 * time.Minute)
	defer tick.Stop()
	for {
		n, err := st.Fold(ctx)
		if err != nil && ctx.Err() == nil {
			s.Note("reports could not be folded: %v\n", err)
		}
		if n > 0 {
			s.Note("folded %s into counts\n", render.Plural(int(n), "report"))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// serverOptions parses the limits and tokens.
func (o *collectOptions) serverOptions() (options collector.Options, err error) {
	if options.SubmitToken, err = tokenOf("submit-token", o.submit); err != nil {
		return options, err
	}
	if options.ReadToken, err = tokenOf("read-token", o.read); err != nil {
		return options, err
	}
	if options.SubmitToken != "" && options.SubmitToken == options.ReadToken {
		return options, console.Usage("--submit-token and --read-token must differ: each person who sends has the former")
	}
	if o.rate != "" {
		rate, err := console.WholeFlag("rate", o.rate, 1, 1<<30)
		if err != nil {
			return options, err
		}
		options.Rate = float64(rate)
	}
	each, err := console.WholeFlag("per-address", o.address, 0, 1<<20)
	if options.PerAddress = int(each); each == 0 {
		options.PerAddress = -1
	}
	return options, err
}

// tokenOf reads a token from a file. A token on the command line would be visible to other users of the machine.
func tokenOf(flag, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", console.Usage("--%s: %v", flag, err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < 16 || len(token) > 1<<10 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", console.Usage("--%s: %s must have one word of 16 to 1024 ASCII characters", flag, file)
	}
	return token, nil
}

// listen opens the address: with TLS, or without it on this machine's own addresses.
func (o *collectOptions) listen() (l net.Listener, config *tls.Config, err error) {
	if (o.cert == "") != (o.key == "") {
		return nil, nil, console.Usage("--cert and --key belong together")
	}
	host, _, err := net.SplitHostPort(o.addr)
	if err != nil {
		return nil, nil, console.Usage("--addr must be HOST:PORT: %v", err)
	}
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return nil, nil, console.Usage("--cert: %v", err)
		}
		config = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	} else if ip := net.ParseIP(host); !o.plain && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, nil, console.Usage("%s is reached from other machines: give --cert and --key for HTTPS, or --plain for "+
			"HTTP without encryption", o.addr)
	}
	if l, err = net.Listen("tcp", o.addr); err != nil {
		return nil, nil, console.Usage("--addr: %v", err)
	}
	return l, config, nil
}
