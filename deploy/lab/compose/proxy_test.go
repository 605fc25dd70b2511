//go:build compose

package compose

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"diagnostics/lab/internal/browser"
	"diagnostics/shared/waittest"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// domain is the deployment's name. Caddy gives names under localhost a certificate of its own authority.
const domain = "tools.localhost"

const tlsOverlay = "deploy/compose.tls.yml"

// forged is every header that could be taken for a visitor's address, with another's.
var forged = []string{
	"X-Real-Ip", "X-Forwarded-For", "Cf-Connecting-Ip", "True-Client-Ip", "X-Client-Ip", "Forwarded", "X-Vercel-Forwarded-For",
}

// caddyProgram is what stands in for the image of Caddy: Debian's, or the one that LAB_CADDY names.
func caddyProgram() string { return cmp.Or(os.Getenv("LAB_CADDY"), "caddy") }

// caddyImage makes an image of caddyProgram if the engine has none of Caddy.
func caddyImage(t *testing.T) {
	t.Helper()
	if err := standIn(tlsOverlay, "caddy", `CMD ["caddy"]`,
		map[string]string{"/usr/bin/caddy": caddyProgram(), "/usr/bin/wget": "busybox"}); err != nil {
		t.Fatal(err)
	}
}

// behindCaddy brings the gateway up behind Caddy for the time of the test.
func behindCaddy(t *testing.T, changes ...string) *stack {
	t.Helper()
	caddyImage(t)
	s := engine.with(append([]string{tlsOverlay, "PUBLIC_DOMAIN=" + domain}, changes...)...)
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := s.run("logs", "--no-color", "--tail", "40", "caddy", "gateway")
			t.Log(out)
		}
		if _, err := s.run("rm", "--force", "--stop", "-v", "caddy"); err != nil {
			t.Error(err)
		}
		up(t, engine, "--scale", "gateway=1", "redis", "worker", "gateway")
	})
	up(t, s, "gateway", "caddy")
	return s
}

// A visitor behind Caddy is who connected to it, whatever the request says, to limits as to tools; and is answered also
// while everything is stopped.
func TestBehindCaddy(t *testing.T) {
	s := behindCaddy(t, "SHUTDOWN_DELAY=1s")
	awaitCaddy(t)
	t.Run("ports", func(t *testing.T) {
		id, err := s.container("caddy")
		if err != nil {
			t.Fatal(err)
		}
		// Over IPv6 every visitor would have the engine's address.
		out, err := output("docker", "port", id)
		if err != nil || strings.Count(out, "-> 0.0.0.0:") != 3 || strings.Contains(out, "::") {
			t.Errorf("published: %v\n%s", err, out)
		}
	})
	t.Run("my-ip", func(t *testing.T) {
		v := newVisitor()
		for _, name := range forged {
			a, err := v.ask("https://"+domain, "my-ip", "", nil, http.Header{name: {"8.8.8.8"}})
			if err != nil {
				t.Fatal(err)
			}
			a.wants(t, "my-ip with "+name, http.StatusOK, fmt.Sprintf(`"ip":"%s"`, v.address))
		}
	})
	t.Run("limits", func(t *testing.T) {
		v, statuses := newVisitor(), map[int]int{}
		begin := time.Now()
		for i := range limit + 5 {
			header := http.Header{}
			for _, name := range forged {
				header.Set(name, fmt.Sprintf("11.95.200.%d", i+1))
			}
			a, err := v.ask("https://"+domain, "dns-lookup", "lab-dns.com", nil, header)
			if err != nil {
				t.Fatal(err)
			}
			statuses[a.status]++
		}
		refilled := int(time.Since(begin) / refill)
		// The bucket refills while they are sent.
		if ok := statuses[200]; ok < limit || ok > limit+refilled || ok+statuses[429] != limit+5 {
			t.Errorf("%v, want %d, and at most %d more that were refilled", statuses, limit, refilled)
		}
	})
	t.Run("browser", func(t *testing.T) {
		v := newVisitor()
		rules := fmt.Sprintf("MAP %s:443 %s, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", domain, forward(t, v))
		chromium, err := browser.Start(chromedp.Flag("host-resolver-rules", rules),
			chromedp.Flag("ignore-certificate-errors", true))
		if err != nil {
			t.Fatal(err)
		}
		defer chromium.Close()
		headers := network.Headers{}
		for _, name := range forged {
			headers[name] = "8.8.8.8"
		}
		tab := chromium.Tab(t, browser.Options{Origin: "https://" + domain, Headers: headers})
		shows(t, tab, "/tools/my-ip?input=", v.address.String())
		shows(t, tab, "/tools/dns-lookup?input=lab-dns.com", "11.80.0.1")
	})
	t.Run("health", func(t *testing.T) {
		waittest.Until(t, "healthy", func() bool {
			return inspect(t, "caddy", "{{.State.Health.Status}}") == "healthy"
		})
	})
	t.Run("stop", func(t *testing.T) { stoppedUnderLongRuns(t, s) })
}

// stoppedUnderLongRuns stops everything while a visitor behind Caddy waits for a run of 24 seconds, and one who sent
// the gateway itself for another that began later. Caddy, which is stopped first, waits for the one, and then the
// gateway for the other.
func stoppedUnderLongRuns(t *testing.T, s *stack) {
	t.Helper()
	long := func(at string) func(*testing.T) answer {
		return inBackground(func() (answer, error) {
			return newVisitor().ask(at, "redirect-checker", "http://redirects.lab-site.com/slow/5", nil, nil)
		})
	}
	direct := origin(t)
	answered := map[string]func(*testing.T) answer{"behind Caddy": long("https://" + domain)}
	time.Sleep(500 * time.Millisecond) // the run has begun; its only sign is the answer
	begin, stopped := time.Now(), make(chan error, 1)
	go func() {
		_, err := s.run("stop")
		stopped <- err
	}()
	time.Sleep(11 * time.Second) // beyond the ten seconds after which compose kills by default
	answered["at the gateway"] = long(direct)
	for where, answered := range answered {
		a := answered(t)
		a.wants(t, "the run "+where, http.StatusOK, `"outcome":"final"`, `"redirectCount":5`)
		if a.took < 24*time.Second { // a bound below
			t.Errorf("the run %s took %v: too short to show anything", where, a.took)
		}
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took < 34*time.Second { // a bound below: less would show nothing
		t.Errorf("the stop took %v: too short to show anything", took)
	} else {
		t.Logf("two runs of 24 s were answered while the stop took %v", took.Round(time.Second))
	}
}

// shows opens a page whose answer must hold a text; up to three times, since Chromium gives up what it is loading when
// an interface of this machine comes or goes, as those of containers do.
func shows(t *testing.T, tab *browser.Tab, path, text string) {
	t.Helper()
	refused := ""
	for range 3 {
		if refused = tab.Refused(path); refused != "" {
			time.Sleep(time.Second) // the engine announces no end of its changes of interfaces
			continue
		}
		if waittest.Within(10*time.Second, func() bool {
			return tab.Holds(fmt.Sprintf(`document.querySelector("#result")?.innerText.includes(%q)`, text))
		}) {
			return
		}
	}
	t.Errorf("%s does not show %s: %s", path, text, refused)
}

// awaitCaddy waits until Caddy has made its certificate.
func awaitCaddy(t *testing.T) {
	t.Helper()
	waittest.Until(t, "Caddy serves", func() bool {
		a, err := newVisitor().send(http.MethodGet, "https://"+domain+"/healthz", nil, nil)
		return err == nil && a.status == http.StatusOK
	})
}

// forward carries connections from this machine's loopback to Caddy, where they come from the visitor's address.
func forward(t *testing.T, v *visitor) (at string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	carry := func(near net.Conn) {
		defer near.Close()
		far, err := engine.world.dialFrom(t.Context(), v.address, hostAddress+":443")
		if err != nil {
			return
		}
		defer far.Close()
		go func() {
			_, _ = io.Copy(far, near)
			far.Close()
		}()
		_, _ = io.Copy(near, far)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go carry(c)
		}
	}()
	return "127.0.0.1:" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// A name that is no own one is an error of the operator, and nothing starts without one.
func TestTLSWantsItsName(t *testing.T) {
	if os.Getenv("PUBLIC_DOMAIN") != "" {
		t.Fatal("PUBLIC_DOMAIN is set outside")
	}
	out, err := engine.with(tlsOverlay).run("config", "--quiet")
	if err == nil {
		t.Errorf("compose takes %s without PUBLIC_DOMAIN: %s", tlsOverlay, out)
	}
}
