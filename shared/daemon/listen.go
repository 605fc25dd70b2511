package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"diagnostics/daemon/settings"
)

// metricsSetting names the address of the private listener, in every service.
const metricsSetting = "METRICS_LISTEN_ADDR"

// Listeners are where a service can be reached.
type Listeners struct {
	public  net.Listener
	metrics net.Listener // nil where there is none
}

// Listen opens the public listener, whose setting is named, and the private one where its address is not empty. An
// error names the setting to change.
func Listen(ctx context.Context, setting string, public, metrics settings.ListenAddr) (*Listeners, error) {
	var l Listeners
	var err error
	if l.public, err = listen(ctx, setting, public); err != nil {
		return nil, err
	}
	if metrics == "" {
		return &l, nil
	}
	if l.metrics, err = listen(ctx, metricsSetting, metrics); err != nil {
		l.Close()
		return nil, err
	}
	return &l, nil
}

// ListenOn opens one more listener, whose setting is named in errors.
func ListenOn(ctx context.Context, setting string, addr settings.ListenAddr) (net.Listener, error) {
	return listen(ctx, setting, addr)
}

func listen(ctx context.Context, setting string, addr settings.ListenAddr) (net.Listener, error) {
	var config net.ListenConfig
	// Multipath TCP, Go's default, supports neither TCP_INFO, which drainBacklogs reads, nor TCP_USER_TIMEOUT.
	config.SetMultipathTCP(false)
	own, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("the addresses of this host cannot be read: %w", err)
	}
	addr, err = inRange(addr, own)
	if err != nil {
		return nil, fmt.Errorf("%w, which %s names", err, setting)
	}
	l, err := config.Listen(ctx, "tcp", string(addr))
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is already in use: stop what listens there, or choose another address by %s",
			addr, setting)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("no right to listen on %s: choose a port of 1024 or above by %s", addr, setting)
	}
	return nil, fmt.Errorf("cannot listen on %s, which %s sets: %w", addr, setting, err)
}

// Close closes them.
func (l *Listeners) Close() {
	_ = l.public.Close()
	if l.metrics != nil {
		_ = l.metrics.Close()
	}
}

// Public is the address of the public listener.
func (l *Listeners) Public() string { return l.public.Addr().String() }

// Metrics is the address of the private listener, or off.
func (l *Listeners) Metrics() string {
	if l.metrics == nil {
		return "off"
	}
	return l.metrics.Addr().String()
}

// inRange returns this host's own address in a range (192.0.2.0/24:8081). Compose cannot do without: it gives each of
// several gateways an address of its own in the network of the metrics only when they start.
func inRange(addr settings.ListenAddr, own []net.Addr) (settings.ListenAddr, error) {
	host, port, err := net.SplitHostPort(string(addr))
	if err != nil {
		return addr, nil //nolint:nilerr // the listener says it better
	}
	within, err := netip.ParsePrefix(host)
	if err != nil {
		return addr, nil //nolint:nilerr // no range
	}
	for _, a := range own {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && within.Contains(prefix.Addr().Unmap()) {
			return settings.ListenAddr(net.JoinHostPort(prefix.Addr().Unmap().String(), port)), nil
		}
	}
	return "", fmt.Errorf("this host has no address in %s", within)
}
