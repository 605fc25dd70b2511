package main

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/egress/egresstest"
)

func TestFilesNeeded(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]uint64{
		"":                                    8192 + 512*filesOfRun + filesOfProcess,
		"MAX_CONNECTIONS=0":                   512*filesOfRun + filesOfProcess,
		"MAX_CONNECTIONS=100 MAX_IN_FLIGHT=3": 100 + 3*filesOfRun + filesOfProcess,
	} {
		c, err := ParseConfig(strings.Fields(env))
		if err != nil {
			t.Fatal(err)
		}
		if got := filesNeeded(c); got != want {
			t.Errorf("%s: %d, want %d", env, got, want)
		}
	}
}

// The limit of this process, on both sides.
func TestWarnOfFiles(t *testing.T) {
	t.Parallel()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur > 1<<30 {
		limit.Cur = 1 << 20 // without a limit there is no other side
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	enough := Config{}
	enough.MaxInFlight = 1
	enough.MaxConnections += settings.Count(limit.Cur - filesOfRun - filesOfProcess)
	tooMany := enough
	tooMany.MaxConnections++
	for _, tt := range []struct {
		name   string
		config Config
		warns  bool
	}{{"as many as there are", enough, false}, {"one more", tooMany, true}} {
		var log bytes.Buffer
		warnOfFiles(tt.config, slog.New(slog.NewTextHandler(&log, nil)))
		if warned := strings.Contains(log.String(), "MAX_CONNECTIONS"); warned != tt.warns {
			t.Errorf("%s: %q", tt.name, log.String())
		}
	}
}

// openFiles counts the sockets of what goes out. Each dial takes a while, as far away, so that what a run does at once
// is open at once.
type openFiles struct {
	network   *egresstest.Network
	mu        sync.Mutex
	now, most int
}

func (o *openFiles) add(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now += n
	o.most = max(o.most, o.now)
}

// mostSince gives the most since it was asked last.
func (o *openFiles) mostSince() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	most := o.most
	o.most = o.now
	return most
}

func (o *openFiles) dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	o.add(1)
	time.Sleep(20 * time.Millisecond)
	c, err := o.network.Dial(ctx, network, to)
	if err != nil {
		o.add(-1)
		return nil, err
	}
	return &openFile{Conn: c, of: o}, nil
}

type openFile struct {
	net.Conn
	of   *openFiles
	once sync.Once
}

func (f *openFile) Close() error {
	f.once.Do(func() { f.of.add(-1) })
	return f.Conn.Close()
}
