package hostroute

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

var (
	public4 = netip.MustParseAddr("93.184.216.34")
	public6 = netip.MustParseAddr("2606:4700::1")
)

func TestTheKernelKnowsItsOwnAddresses(t *testing.T) {
	t.Parallel()
	k := Open(Packets{})
	defer k.Close()
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		address := netip.MustParsePrefix(a.String()).Addr()
		if address.IsLinkLocalUnicast() { // which a route alone cannot distinguish by link
			continue
		}
		if kind, err := k.To(address); err != nil || kind != Here {
			t.Errorf("%v: %v, %v", address, kind, err)
		}
	}
	for _, a := range []netip.Addr{public4, public6} {
		if kind, err := k.To(a); err != nil || kind != Out && kind != Nowhere {
			t.Errorf("%v: %v, %v", a, kind, err)
		}
	}
}

func TestWhatIsNoAddressIsNotAsked(t *testing.T) {
	t.Parallel()
	k := Open(Packets{})
	defer k.Close()
	for _, a := range []netip.Addr{{}, netip.MustParseAddr("::ffff:127.0.0.1"), netip.MustParseAddr("fe80::1%lo")} {
		if kind, err := k.To(a); !errors.Is(err, ErrNoAnswer) {
			t.Errorf("%v: %v, %v", a, kind, err)
		}
	}
}

// Concurrent callers get their own answers, also behind an answer that no caller waits for.
func TestAnswersAreNotMixedUp(t *testing.T) {
	t.Parallel()
	k := Open(Packets{})
	defer k.Close()
	// An answer that no caller waits for any more: it lies before all others.
	if err := k.send(request(unix.RTM_GETROUTE, k.seq, k.port, question{address: public4}.body())); err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			for range 100 {
				local, err := k.To(netip.MustParseAddr("127.0.0.1"))
				if err != nil || local != Here {
					t.Errorf("loopback: %v, %v", local, err)
				}
				if kind, err := k.To(public4); err != nil || kind == Here {
					t.Errorf("elsewhere: %v, %v", kind, err)
				}
			}
		})
	}
	asking.Wait()
}

func TestASocketIsOpenedAgain(t *testing.T) {
	t.Parallel()
	k := Open(Packets{})
	k.Close()
	defer k.Close()
	if kind, err := k.To(netip.MustParseAddr("127.0.0.1")); err != nil || kind != Here {
		t.Errorf("%v, %v", kind, err)
	}
}

// No second answer comes after one that is too long: all others would wait for it behind the lock.
func TestAnAnswerThatIsTooLongIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	k := Open(Packets{})
	defer k.Close()
	room := k.buffer
	k.buffer = room[:unix.SizeofNlMsghdr]
	loopback := netip.MustParseAddr("127.0.0.1")
	began := time.Now()
	if kind, err := k.To(loopback); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("%v, %v", kind, err)
	}
	if took := time.Since(began); took >= answerWithin { // the kernel's own timer (SO_RCVTIMEO)
		t.Errorf("waited %s", took)
	}
	k.buffer = room
	if kind, err := k.To(loopback); err != nil || kind != Here {
		t.Errorf("the next question: %v, %v", kind, err)
	}
}

// Another process may write to the socket, but not as the kernel.
func TestOnlyTheKernelIsHeard(t *testing.T) {
	t.Parallel()
	k, stranger := Open(Packets{}), Open(Packets{})
	defer k.Close()
	defer stranger.Close()
	loopback := netip.MustParseAddr("127.0.0.1")
	forged := request(unix.RTM_NEWROUTE, k.seq+1, k.port, route(unix.AF_INET, unix.RTN_UNICAST, 0))
	err := unix.Sendto(stranger.fd, forged, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Pid: k.port})
	if err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ECONNREFUSED) {
		t.Fatal(err)
	}
	if kind, err := k.To(loopback); err != nil || kind != Here {
		t.Errorf("%v, %v", kind, err)
	}
}

// said is a message of the kernel.
func said(kind uint16, body []byte) syscall.NetlinkMessage {
	return syscall.NetlinkMessage{Header: syscall.NlMsghdr{Type: kind}, Data: body}
}

func route(family, kind byte, flags uint32, attributes ...byte) []byte {
	m := []byte{family, 32, 0, 0, 0, 0, 0, kind}
	return append(binary.NativeEndian.AppendUint32(m, flags), attributes...)
}

func failure(errno unix.Errno) []byte {
	return binary.NativeEndian.AppendUint32(nil, uint32(-int32(errno)))
}

// legs is the attribute of a route over several links, each with its flags.
func legs(flags ...byte) []byte {
	native := binary.NativeEndian
	m := native.AppendUint16(nil, uint16(unix.SizeofRtAttr+len(flags)*unix.SizeofRtNexthop))
	m = native.AppendUint16(m, unix.RTA_MULTIPATH)
	for i, f := range flags {
		m = native.AppendUint16(m, unix.SizeofRtNexthop)
		m = append(m, f, 0)
		m = native.AppendUint32(m, uint32(i))
	}
	return m
}

func TestReadAnswers(t *testing.T) {
	t.Parallel()
	q4, q6 := question{address: public4}, question{address: public6}
	oif := []byte{8, 0, unix.RTA_OIF, 0, 2, 0, 0, 0}
	for name, test := range map[string]struct {
		q       question
		message syscall.NetlinkMessage
		kind    Kind
		fails   bool
	}{
		"a unicast route":          {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_UNICAST, 0, oif...)), Out, false},
		"of IPv6":                  {q6, said(unix.RTM_NEWROUTE, route(unix.AF_INET6, unix.RTN_UNICAST, 0, oif...)), Out, false},
		"local":                    {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_LOCAL, 0)), Here, false},
		"broadcast":                {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_BROADCAST, 0)), Here, false},
		"anycast":                  {q6, said(unix.RTM_NEWROUTE, route(unix.AF_INET6, unix.RTN_ANYCAST, 0)), Here, false},
		"multicast":                {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_MULTICAST, 0)), Here, false},
		"unreachable":              {q6, said(unix.RTM_NEWROUTE, route(unix.AF_INET6, unix.RTN_UNREACHABLE, 0)), Refused, false},
		"prohibit":                 {q6, said(unix.RTM_NEWROUTE, route(unix.AF_INET6, unix.RTN_PROHIBIT, 0)), Refused, false},
		"blackhole":                {q6, said(unix.RTM_NEWROUTE, route(unix.AF_INET6, unix.RTN_BLACKHOLE, 0)), Refused, false},
		"no type that is known":    {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, 77, 0)), 0, true},
		"the other family":         {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET6, unix.RTN_UNICAST, 0)), 0, true},
		"a link without a carrier": {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_UNICAST, unix.RTNH_F_LINKDOWN)), Nowhere, false},
		"a link that is down":      {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_UNICAST, unix.RTNH_F_DEAD)), Nowhere, false},
		"another flag":             {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_UNICAST, unix.RTNH_F_ONLINK)), Out, false},
		"one leg of two": {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_UNICAST, 0,
			append(oif, legs(unix.RTNH_F_LINKDOWN, 0)...)...)), Out, false},
		"no leg of two": {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_UNICAST, 0,
			append(oif, legs(unix.RTNH_F_LINKDOWN, unix.RTNH_F_DEAD)...)...)), Nowhere, false},
		"a broken leg": {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_UNICAST, 0,
			12, 0, unix.RTA_MULTIPATH, 0, 40, 0, 0, 0, 0, 0, 0, 0)), 0, true},
		"a broken attribute": {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_UNICAST, 0, 3, 0, 0, 0)),
			0, true},
		"an attribute that is too long": {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_UNICAST, 0,
			9, 0, 0, 0, 0, 0, 0, 0)), 0, true},
		"a short route": {q4, said(unix.RTM_NEWROUTE, []byte{unix.AF_INET}), 0, true},

		"no route":                       {q4, said(unix.NLMSG_ERROR, failure(unix.ENETUNREACH)), Nowhere, false},
		"a route that throws":            {q4, said(unix.RTM_NEWROUTE, route(unix.AF_INET, unix.RTN_THROW, 0)), Nowhere, false},
		"a prohibiting rule":             {q4, said(unix.NLMSG_ERROR, failure(unix.EACCES)), Refused, false},
		"a black hole":                   {q4, said(unix.NLMSG_ERROR, failure(unix.EINVAL)), Refused, false},
		"an unreachable route":           {q4, said(unix.NLMSG_ERROR, failure(unix.EHOSTUNREACH)), Refused, false},
		"a link that is gone":            {q4, said(unix.NLMSG_ERROR, failure(unix.ENODEV)), Nowhere, false},
		"a family that the kernel lacks": {q6, said(unix.NLMSG_ERROR, failure(unix.EAFNOSUPPORT)), Nowhere, false},
		"no memory":                      {q4, said(unix.NLMSG_ERROR, failure(unix.ENOBUFS)), 0, true},
		"no right to ask":                {q4, said(unix.NLMSG_ERROR, failure(unix.EPERM)), 0, true},
		"an acknowledgement":             {q4, said(unix.NLMSG_ERROR, failure(0)), 0, true},
		"a short error":                  {q4, said(unix.NLMSG_ERROR, []byte{1, 2, 3}), 0, true},
		"a notice":                       {q4, said(unix.NLMSG_DONE, nil), 0, true},
	} {
		route, err := test.q.read(test.message)
		if route.Kind != test.kind || (err != nil) != test.fails {
			t.Errorf("%s: %v, %v", name, route, err)
		}
	}
}

// An answer has the number and the port of its question, and may stand behind another.
func TestAnswer(t *testing.T) {
	t.Parallel()
	mine := request(unix.RTM_NEWROUTE, 7, 99, nil)
	for name, test := range map[string]struct {
		b    []byte
		want bool
	}{
		"the answer":                            {mine, true},
		"behind the answer to another question": {append(request(unix.NLMSG_ERROR, 6, 99, nil), mine...), true},
		"the answer to another question":        {request(unix.RTM_NEWROUTE, 6, 99, nil), false},
		"to another socket":                     {request(unix.RTM_NEWROUTE, 7, 98, nil), false},
		"nothing":                               {nil, false},
		"half a header":                         {mine[:15], false},
		"a length beyond the end":               {append([]byte{255, 0, 0, 0}, mine[4:]...), false},
		"a length below a header":               {append([]byte{15, 0, 0, 0}, mine[4:]...), false},
	} {
		if m, ok := answer(test.b, 7, 99); ok != test.want || ok && m.Header.Type != unix.RTM_NEWROUTE {
			t.Errorf("%s: %v, %+v", name, ok, m)
		}
	}
}

// Whatever the kernel may send, reading it ends, within its bounds, in an answer or an error.
func FuzzRead(f *testing.F) {
	q := question{address: public4}
	f.Add(request(unix.RTM_NEWROUTE, 7, 99, route(unix.AF_INET, unix.RTN_UNICAST, 0, legs(0, 1, 16)...)))
	f.Add(request(unix.NLMSG_ERROR, 7, 99, failure(unix.ENETUNREACH)))
	f.Add(append(request(unix.NLMSG_DONE, 0, 0, nil), request(unix.RTM_NEWROUTE, 7, 99, nil)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, ok := answer(b, 7, 99); ok {
			route, err := q.read(m)
			if known := route.Kind >= Out && route.Kind <= Refused; known != (err == nil) {
				t.Errorf("%v, %v", route, err)
			}
		}
		messages, _ := syscall.ParseNetlinkMessage(b)
		for _, m := range messages {
			if link, ok := readLink(m); !ok && link != (Link{}) {
				t.Errorf("%+v of what is about no link", link)
			}
		}
	})
}

// A route includes its links: one, or those of its next hops that are up.
func TestLinksOfRoutes(t *testing.T) {
	t.Parallel()
	q := question{address: public4}
	oif := []byte{8, 0, unix.RTA_OIF, 0, 2, 0, 0, 0}
	for name, test := range map[string]struct {
		body  []byte
		links []int
	}{
		"one link":         {route(unix.AF_INET, unix.RTN_UNICAST, 0, oif...), []int{2}},
		"one that is down": {route(unix.AF_INET, unix.RTN_UNICAST, unix.RTNH_F_LINKDOWN, oif...), []int{2}},
		"two of three":     {route(unix.AF_INET, unix.RTN_UNICAST, 0, legs(0, unix.RTNH_F_LINKDOWN, 0)...), []int{0, 2}},
		"a local one":      {route(unix.AF_INET, unix.RTN_LOCAL, 0, oif...), nil},
	} {
		if got, err := q.read(said(unix.RTM_NEWROUTE, test.body)); err != nil || !slices.Equal(got.Links, test.links) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A question names the packets that it is about, since rules may send each protocol and each link's another way.
func TestQuestionsNameTheirPackets(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		to       netip.Addr
		packets  Packets
		protocol byte
		link     []byte
	}{
		"TCP":            {public4, Packets{}, unix.IPPROTO_TCP, nil},
		"TCP over IPv6":  {public6, Packets{}, unix.IPPROTO_TCP, nil},
		"ICMP":           {public4, Packets{Protocol: ICMP}, unix.IPPROTO_ICMP, nil},
		"ICMPv6":         {public6, Packets{Protocol: ICMP}, unix.IPPROTO_ICMPV6, nil},
		"bound to links": {public6, Packets{Link: 258}, unix.IPPROTO_TCP, binary.NativeEndian.AppendUint32(nil, 258)},
	} {
		attributes, ok := attributesOf(said(unix.RTM_NEWROUTE, question{address: test.to, packets: test.packets}.body()))
		protocol, link := attributes[unix.RTA_IP_PROTO], attributes[unix.RTA_OIF]
		if !ok || !slices.Equal(protocol, []byte{test.protocol}) || !slices.Equal(link, test.link) {
			t.Errorf("%s: protocol %v, link %v", name, protocol, link)
		}
	}
}

// A route that an operator refuses on purpose is no loss, unless it is all of them.
func TestARefusedRouteIsNoLoss(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind    Kind
		anchors [2]Kind
		err     error
		want    bool
	}{
		"a way":                     {Out, [2]Kind{Nowhere, Nowhere}, nil, false},
		"to this host":              {Here, [2]Kind{Nowhere, Nowhere}, nil, false},
		"none":                      {Nowhere, [2]Kind{Out, Out}, nil, true},
		"one net is refused":        {Refused, [2]Kind{Out, Out}, nil, false},
		"the first anchor as well":  {Refused, [2]Kind{Refused, Out}, nil, false},
		"the second anchor as well": {Refused, [2]Kind{Out, Refused}, nil, false},
		"all is refused":            {Refused, [2]Kind{Refused, Refused}, nil, true},
		"what is left is refused":   {Refused, [2]Kind{Nowhere, Nowhere}, nil, true},
		"an anchor is here":         {Refused, [2]Kind{Here, Refused}, nil, false},
		"no one can be asked":       {Refused, [2]Kind{Refused, Refused}, ErrNoAnswer, false},
	} {
		for _, to := range []netip.Addr{public4, public6} {
			got := test.kind.Lost(to, func(a netip.Addr) (Kind, error) {
				for i, anchor := range Anchors(to.Is6()) {
					if a == anchor {
						return test.anchors[i], test.err
					}
				}
				t.Errorf("%s: asked about %v", name, a)
				return 0, nil
			})
			if got != test.want {
				t.Errorf("%s: %v for %v", name, got, to)
			}
		}
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	k := Open(Packets{})
	defer k.Close()
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range links {
		got, err := k.Link(want.Index)
		if err != nil || got.Index != want.Index || got.Up && want.Flags&net.FlagUp == 0 {
			t.Errorf("%s: %+v, %v", want.Name, got, err)
		}
	}
	if got, err := k.Link(1 << 30); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("none: %+v, %v", got, err)
	}
}

func TestReadLink(t *testing.T) {
	t.Parallel()
	native := binary.NativeEndian
	link := func(family byte, flags uint32, attributes ...byte) []byte {
		b := native.AppendUint32([]byte{family, 0, 1, 0}, 7)
		b = native.AppendUint32(b, flags)
		return append(native.AppendUint32(b, 0), attributes...)
	}
	const up = unix.IFF_UP | unix.IFF_LOWER_UP
	downs := native.AppendUint32([]byte{8, 0, unix.IFLA_CARRIER_DOWN_COUNT, 0}, 3)
	for name, test := range map[string]struct {
		m    syscall.NetlinkMessage
		want Link
		ok   bool
	}{
		"up":                 {said(unix.RTM_NEWLINK, link(0, up, downs...)), Link{7, true, 3}, true},
		"without a carrier":  {said(unix.RTM_NEWLINK, link(0, unix.IFF_UP)), Link{Index: 7}, true},
		"switched off":       {said(unix.RTM_NEWLINK, link(0, unix.IFF_LOWER_UP)), Link{Index: 7}, true},
		"gone":               {said(unix.RTM_DELLINK, link(0, up)), Link{Index: 7}, true},
		"a port of a bridge": {said(unix.RTM_DELLINK, link(unix.AF_BRIDGE, up)), Link{}, false},
		"a route":            {said(unix.RTM_NEWROUTE, link(0, up)), Link{}, false},
		"a short one":        {said(unix.RTM_NEWLINK, link(0, up)[:15]), Link{}, false},
	} {
		if got, ok := readLink(test.m); got != test.want || ok != test.ok {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}

func TestChangesAreClosed(t *testing.T) {
	t.Parallel()
	c, err := OpenChanges()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		for {
			if _, err := c.Next(); err != nil {
				ended <- err
				return
			}
		}
	}()
	c.Close()
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
