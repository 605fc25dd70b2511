package tlswire_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/egress/tlswire"
)

// offered is a config of all suites, as tools offer them.
func offered() *tls.Config {
	c := &tls.Config{ServerName: "www.example.com", InsecureSkipVerify: true, MinVersion: tls.VersionTLS10,
		NextProtos: []string{"h2", "http/1.1"}}
	for _, s := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		c.CipherSuites = append(c.CipherSuites, s.ID)
	}
	return c
}

// helloOf is what a client sends first.
func helloOf(t *testing.T, hello *tlswire.Hello) int {
	t.Helper()
	near, far := net.Pipe()
	go func() { _ = tls.Client(near, hello.Config(offered())).Handshake() }()
	n, err := far.Read(make([]byte, 1<<14))
	if err != nil {
		t.Fatal(err)
	}
	_ = far.Close()
	return n
}

func TestSizesOfHellos(t *testing.T) {
	t.Parallel()
	if n := helloOf(t, tlswire.NewHello(false)); n <= 1460 {
		t.Errorf("the long hello has %d octets, which fit into one segment", n)
	}
	if n := helloOf(t, tlswire.NewHello(true)); n > 300 {
		t.Errorf("the short hello has %d octets", n)
	}
	config := offered()
	before := slices.Clone(config.CipherSuites)
	_ = tlswire.NewHello(true).Config(config)
	if !slices.Equal(before, config.CipherSuites) || config.CurvePreferences != nil {
		t.Error("the config is changed")
	}
}

// step is what a server does with a connection: after a time it sends something, and then it resets or stays.
type step struct {
	after time.Duration
	send  string
	end   bool
}

var (
	silent    = step{after: time.Hour}
	reset     = step{end: true}
	handshake = "\x16\x03\x03\x00\x04\x02\x00\x00\x00" // a ServerHello, as far as it is looked at
	alertOf   = func(description string) step { return step{send: "\x15\x03\x03\x00\x02\x02" + description} }
)

// try plays handshakes: the hello is answered where a record of a handshake comes.
func try(long []step, short step, count *atomic.Int32) tlswire.Try[string] {
	var mu sync.Mutex
	return func(ctx context.Context, hello *tlswire.Hello) (string, error) {
		count.Add(1)
		mu.Lock()
		s, name := short, "short"
		if !hello.Short {
			s, name = long[0], "long"
			if len(long) > 1 {
				long = long[1:]
			}
		}
		mu.Unlock()
		near, far := net.Pipe()
		go func() {
			_, _ = far.Read(make([]byte, 1<<14))
			select {
			case <-time.After(s.after):
			case <-ctx.Done():
			}
			_, _ = io.WriteString(far, s.send)
			if s.end || ctx.Err() != nil {
				_ = far.Close()
			}
		}()
		defer func() { _, _ = near.Close(), far.Close() }()
		wire := tlswire.Watch(near)
		err := hello.Handshake(ctx, tls.Client(wire, hello.Config(offered())), wire)
		if wire.Answered() {
			return name, nil // the record is no whole ServerHello
		}
		return "", err
	}
}

func TestEither(t *testing.T) {
	t.Parallel()
	good := step{send: handshake, end: true}
	after := func(d time.Duration) step { return step{after: d, send: handshake, end: true} }
	for name, c := range map[string]struct {
		long    []step
		short   step
		alone   bool // not beside each other
		want    string
		tooLong bool
		tries   int32
	}{
		"answered":                      {[]step{good}, good, false, "long", false, 1},
		"a slow answer":                 {[]step{after(5 * time.Second)}, after(5 * time.Second), false, "long", false, 2},
		"an answer just in time":        {[]step{after(tlswire.Silence - 1)}, good, false, "long", false, 1},
		"a slow answer, a short sooner": {[]step{after(5 * time.Second)}, good, false, "short", false, 2},
		"silence":                       {[]step{silent}, good, false, "short", true, 2},
		"silence to both":               {[]step{silent}, silent, false, "", false, 2},
		"silence, one at a time":        {[]step{silent}, good, true, "", false, 1},
		"a reset":                       {[]step{reset}, good, false, "short", true, 3},
		"a reset, one at a time":        {[]step{reset}, good, true, "short", true, 3},
		"a reset by chance":             {[]step{reset, good}, good, false, "short", false, 3},
		"resets":                        {[]step{reset}, reset, false, "", false, 2},
		"decode_error":                  {[]step{alertOf("\x32")}, good, false, "short", true, 3},
		"unrecognized_name":             {[]step{alertOf("\x70")}, good, false, "", false, 1},
		"no_application_protocol":       {[]step{alertOf("\x78")}, good, false, "", false, 1},
		"no TLS":                        {[]step{{send: "SSH-2.0-OpenSSH_9.9\r\n"}}, good, false, "", false, 1},
		"half a record":                 {[]step{{send: "\x16\x03", end: true}}, good, false, "", false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
				defer cancel()
				var tries atomic.Int32
				outcome := tlswire.Either(ctx, !c.alone, try(c.long, c.short, &tries))
				got, tooLong := outcome.Value, outcome.TooLong(ctx)
				outcome.Wait()
				if got != c.want || (outcome.Err == nil) != (c.want != "") || tooLong != c.tooLong {
					t.Errorf("%q, too long %t, %v", got, tooLong, outcome.Err)
				}
				if tries.Load() != c.tries {
					t.Errorf("%d handshakes", tries.Load())
				}
			})
		})
	}
}
