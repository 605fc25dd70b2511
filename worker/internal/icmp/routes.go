package icmp

import (
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/hostroute"
	"diagnostics/shared/parallel"
	"diagnostics/worker/internal/exchange"

	"golang.org/x/sys/unix"
)

const (
	// changePause bounds the queries of a host whose routes change all the time. Changes meanwhile are queried after it.
	changePause = 5 * time.Millisecond
	// logEvery is how often at most a lost route is logged.
	logEvery = time.Minute
	// countPause is more than a send takes.
	countPause = 5 * time.Millisecond
)

// routeWatcher follows the kernel's route to each destination that is measured. It queries the kernel when that begins,
// and again after a change: a link that was down for a moment between two probes may have lost an answer.
type routeWatcher struct {
	log   *slog.Logger
	route func(netip.Addr) (hostroute.Route, error)
	link  func(index int) (hostroute.Link, error)
	// dropped counts the packets that a queue of this host has dropped without an error of a send.
	dropped func() uint64
	// next waits for a change; nil where there are no notices. Then the kernel is queried for every probe.
	next   func() ([]hostroute.Link, error)
	stop   func()
	reader parallel.Group
	// had4 and had6 are true once the kernel has had a route to the internet of the family.
	had4, had6 atomic.Bool

	mu       sync.Mutex
	followed map[*routeWatch]struct{}
	links    map[int]hostroute.Link // as last reported; only those that some route has led over
	loggedAt time.Time
}

// routeWatch implements exchange.RouteWatch.
type routeWatch struct {
	watcher *routeWatcher
	dst     netip.Addr
	// silentDrops is that sends return no error for packets that this host has dropped; before is how many that were at
	// first.
	silentDrops bool
	before      uint64
	// cut is now, was at some moment.
	cut, was atomic.Bool
	// links are those that the route has led over, with how often each had lost its carrier; guarded by mu of watcher.
	links map[int]uint32
}

func newRouteWatcher(log *slog.Logger) *routeWatcher {
	// The kernel locks all links for a question about one, which those about routes must not wait for.
	routes, links := hostroute.Open(hostroute.Packets{Protocol: hostroute.ICMP, Link: boundTo()}),
		hostroute.Open(hostroute.Packets{})
	dropped := openDropped6()
	w := &routeWatcher{log: log, route: routes.Route, link: links.Link, dropped: dropped.now,
		followed: map[*routeWatch]struct{}{}, links: map[int]hostroute.Link{}}
	changes, err := hostroute.OpenChanges()
	if err == nil {
		w.next = changes.Next
	}
	w.stop = func() {
		if changes != nil {
			changes.Close()
		}
		w.reader.Wait()
		routes.Close()
		links.Close()
		dropped.close()
	}
	w.meet()
	if w.next != nil {
		w.reader.Go(w.listen)
	}
	return w
}

// boundTo returns the number of the link or VRF to which the sockets of this process are bound from the start, as
// "ip vrf exec" does; 0 for none.
func boundTo() int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	link, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BINDTOIFINDEX)
	if err != nil { // Linux before 5.1
		return 0
	}
	return link
}

// listen reads the notices of changes. It ends when the socket is closed.
func (w *routeWatcher) listen() {
	for {
		links, err := w.next()
		if errors.Is(err, os.ErrClosed) {
			return
		}
		w.changed(links)
		time.Sleep(changePause)
	}
}

// changed queries every followed route again, and records those that led over a link which was down.
func (w *routeWatcher) changed(links []hostroute.Link) {
	w.meet()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range links {
		if _, known := w.links[l.Index]; known {
			w.links[l.Index] = l
		}
	}
	for f := range w.followed {
		for _, l := range links {
			f.note(l)
		}
		f.look()
	}
}

// follow begins to watch over the route to a destination, and with silentDrops over dropped packets, too.
func (w *routeWatcher) follow(dst netip.Addr, silentDrops bool) *routeWatch {
	f := &routeWatch{watcher: w, dst: dst, silentDrops: silentDrops, links: map[int]uint32{}}
	if silentDrops {
		f.before = w.dropped()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.followed[f] = struct{}{}
	f.look()
	return f
}

// Close implements exchange.RouteWatch.
func (f *routeWatch) Close() {
	f.watcher.mu.Lock()
	defer f.watcher.mu.Unlock()
	delete(f.watcher.followed, f)
}

// Cut implements exchange.RouteWatch.
func (f *routeWatch) Cut() error {
	if f.watcher.next == nil {
		f.lookNow()
	}
	if f.cut.Load() {
		return exchange.ErrCutOff
	}
	return nil
}

// WasCut implements exchange.RouteWatch. The kernel may not have reported a carrier that was lost a moment ago yet, but
// it counts them at once.
func (f *routeWatch) WasCut() error {
	if !f.was.Load() {
		f.lookNow()
		for _, index := range f.ledOver() {
			if l, err := f.watcher.link(index); err == nil {
				f.noteNow(l)
			}
		}
	}
	switch {
	case f.was.Load():
		return exchange.ErrCutOff
	case f.silentDrops && f.droppedAny():
		return exchange.ErrShortage
	}
	return nil
}

// droppedAny reports whether this host has dropped packets without an error of a send. A send of another flow may be
// between what the kernel counts and what is taken off for it, so it looks twice.
func (f *routeWatch) droppedAny() bool {
	more := func() bool { return int64(f.watcher.dropped()-f.before) > 0 }
	if !more() {
		return false
	}
	time.Sleep(countPause)
	return more()
}

func (f *routeWatch) lookNow() {
	f.watcher.mu.Lock()
	defer f.watcher.mu.Unlock()
	f.look()
}

func (f *routeWatch) noteNow(l hostroute.Link) {
	f.watcher.mu.Lock()
	defer f.watcher.mu.Unlock()
	f.watcher.links[l.Index] = l
	f.note(l)
}

// ledOver returns the links of the route.
func (f *routeWatch) ledOver() []int {
	f.watcher.mu.Lock()
	defer f.watcher.mu.Unlock()
	return slices.Collect(maps.Keys(f.links))
}

// look queries the kernel for the route. The caller holds the lock.
func (f *routeWatch) look() {
	route, cut := f.watcher.ask(f.dst)
	f.cut.Store(cut)
	if cut {
		f.was.Store(true)
	}
	for _, index := range route.Links {
		if _, known := f.links[index]; known {
			continue
		}
		if l, known := f.watcher.known(index); known {
			f.links[index] = l.Downs
		}
	}
}

// note records a report on a link. The caller holds the lock.
func (f *routeWatch) note(l hostroute.Link) {
	if before, is := f.links[l.Index]; is && (!l.Up || l.Downs != before) {
		f.was.Store(true)
	}
}

// known returns a link as the kernel last reported it. The caller holds the lock.
func (w *routeWatcher) known(index int) (hostroute.Link, bool) {
	l, known := w.links[index]
	if !known {
		var err error
		if l, err = w.link(index); err != nil {
			return l, false
		}
		w.links[index] = l
	}
	return l, true
}

// meet notes the families that this host has now. The route to the internet alone shows them: what one job's
// destination has says nothing of all others.
func (w *routeWatcher) meet() {
	for v6, had := range map[bool]*atomic.Bool{false: &w.had4, true: &w.had6} {
		for _, anchor := range hostroute.Anchors(v6) {
			if had.Load() {
				break
			}
			if route, err := w.route(anchor); err == nil && route.Kind == hostroute.Out {
				had.Store(true)
			}
		}
	}
}

// ask returns the route to a destination, and whether it is lost. A failed query is no reason to end a measurement.
func (w *routeWatcher) ask(dst netip.Addr) (route hostroute.Route, cut bool) {
	route, err := w.route(dst)
	if err != nil {
		return hostroute.Route{}, false
	}
	had := &w.had4
	if dst.Is6() {
		had = &w.had6
	}
	if !had.Load() {
		w.meet()
	}
	cut = had.Load() && route.Kind.Lost(dst, func(a netip.Addr) (hostroute.Kind, error) {
		route, err := w.route(a)
		return route.Kind, err
	})
	if cut {
		w.logLost(dst)
	}
	return route, cut
}

// logLost logs a warning: packets may be routed by marks that the query does not have. The caller holds the lock.
func (w *routeWatcher) logLost(dst netip.Addr) {
	if !w.loggedAt.IsZero() && time.Since(w.loggedAt) < logEvery {
		return
	}
	w.loggedAt = time.Now()
	family := 4
	if dst.Is6() {
		family = 6
	}
	w.log.Warn("this host has no route to a destination, or its link is down: measurements of it are refused",
		"family", family)
}
