package cable

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pairs are two socket pairs that keep packets apart, as TUN devices do: what is written to near comes out of a lane's
// near end, and what it sends comes out of far.
func pairs(t *testing.T) (near, far int, c *Cable) {
	t.Helper()
	var fds [4]int
	for i := 0; i < 4; i += 2 {
		two, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		fds[i], fds[i+1] = two[0], two[1]
	}
	t.Cleanup(func() {
		unix.Close(fds[0])
		unix.Close(fds[3])
	})
	return fds[0], fds[3], &Cable{fdA: fds[1], fdB: fds[2]}
}

// receive waits for one packet.
func receive(t *testing.T, fd int, within time.Duration) (string, bool) {
	t.Helper()
	polls := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, err := unix.Poll(polls, int(within.Milliseconds())); err != nil || n == 0 {
		return "", false
	}
	buf := make([]byte, mtu)
	n, err := unix.Read(fd, buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n]), true
}

func TestHubDelaysAndKeepsOrder(t *testing.T) {
	t.Parallel()
	near, far, c := pairs(t)
	c.spec = Spec{Delay: 20 * time.Millisecond}
	hub, err := Run([]*Cable{c})
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []struct{ from, to int }{{near, far}, {far, near}} {
		sent := time.Now()
		for n := range 200 {
			if _, err := unix.Write(way.from, fmt.Appendf(nil, "packet %d", n)); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 200 {
			got, ok := receive(t, way.to, 5*time.Second)
			if want := fmt.Sprintf("packet %d", n); !ok || got != want {
				t.Fatalf("got %q %v, want %q", got, ok, want)
			}
			if n == 0 {
				took := time.Since(sent)
				t.Logf("the first came after %v", took)
				if took < c.spec.Delay || took > 5*c.spec.Delay {
					t.Errorf("the first came after %v, want %v", took, c.spec.Delay)
				}
			}
		}
	}
	if err := hub.Close(); err != nil {
		t.Error(err)
	}
	if err := hub.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

func TestHubDropsEveryNthOneWay(t *testing.T) {
	t.Parallel()
	holdOneWay(t, Spec{DropEvery: 3}, "0 1 3 4 6 7")
}

func TestHubRepeatsEveryNthOneWay(t *testing.T) {
	t.Parallel()
	holdOneWay(t, Spec{RepeatEvery: 4}, "0 1 2 3 3 4 5 6 7 7 8")
}

func TestHubHoldsEveryNthOneWay(t *testing.T) {
	t.Parallel()
	holdOneWay(t, Spec{HoldEvery: 4, Hold: 30 * time.Millisecond}, "0 1 2 4 5 6 8 3 7")
}

// holdOneWay sends nine packets each way; those from A to B must come as wanted, and those back as they were sent.
func holdOneWay(t *testing.T, spec Spec, want string) {
	t.Helper()
	near, far, c := pairs(t)
	c.spec = spec
	hub, err := Run([]*Cable{c})
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []struct {
		from, to int
		want     string
	}{{near, far, want}, {far, near, "0 1 2 3 4 5 6 7 8"}} {
		for n := range 9 {
			if _, err := unix.Write(way.from, fmt.Append(nil, n)); err != nil {
				t.Fatal(err)
			}
		}
		var came []string
		for range strings.Fields(way.want) {
			p, _ := receive(t, way.to, 5*time.Second)
			came = append(came, p)
		}
		if extra, ok := receive(t, way.to, 50*time.Millisecond); ok {
			came = append(came, extra)
		}
		if got := strings.Join(came, " "); got != way.want {
			t.Errorf("got %s, want %s", got, way.want)
		}
	}
	if err := hub.Close(); err != nil {
		t.Error(err)
	}
}

// A lane's queue that never empties does not grow: what left is taken off its front.
func TestLaneReusesItsBuffers(t *testing.T) {
	t.Parallel()
	near, _, c := pairs(t)
	l := &lane{from: c.fdA, to: c.fdB, spec: Spec{Delay: time.Millisecond}}
	start := time.Now()
	for range 300 {
		if _, err := unix.Write(near, []byte("x")); err != nil {
			t.Fatal(err)
		}
		l.fill(start)
		time.Sleep(100 * time.Microsecond)
		l.drain(start)
	}
	if held := len(l.queue) + len(l.free); held > 100 {
		t.Errorf("%d buffers for a millisecond's packets", held)
	}
}
