//go:build e2e

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"diagnostics/lab"
)

// The mazes of TestWorstCases: what strangers can build so that one request of a visitor becomes as much as it can.
const (
	mazeWeb  = "www.maze-web.com"  // redirects, sitemaps and endless bodies
	mazeMail = "maze-mail.com"     // records that lead to as many lookups as there can be, over long names
	mazeMany = "many.maze-web.com" // addresses at which nothing listens
	mazeTLS  = "tls.maze-web.com"  // two addresses that answer and two at which nothing listens
)

// Ports of their own at the maze's address, beside 80 and 443.
const mazeMailPort, mazeGarbagePort, mazeTLSPort = 25, 4433, 4434

// buildMazes starts the servers and publishes the names.
func buildMazes(t *testing.T) {
	t.Helper()
	// The first two addresses of each family refuse, so that each round trip has to go on to the third.
	var web, many []string
	for i := 1; i <= 3; i++ {
		web = append(web, fmt.Sprintf("@ 300 IN A 11.80.0.%d", 200+i), fmt.Sprintf("@ 300 IN AAAA 2a10:80::c%d", i))
	}
	for i := range 60 {
		many = append(many, fmt.Sprintf("@ 300 IN A 11.80.0.%d", 180+i), fmt.Sprintf("@ 300 IN AAAA 2a10:80::b%02x", i))
	}
	internet.Script(mazeWeb, lab.Step{Records: web})
	internet.Script(mazeMany, lab.Step{Records: many})
	internet.Script(mazeTLS, lab.Step{Records: append(web[4:6:6], web[:2]...)})
	publishMailMaze(t)
	certificate := mazeCertificate(t)
	for _, address := range []string{"11.80.0.203", "2a10:80::c3"} {
		serveMaze(t, net.JoinHostPort(address, "80"), nil)
		serveMaze(t, net.JoinHostPort(address, "443"), &certificate)
		for port, talk := range map[int]func(net.Conn){
			mazeMailPort: greetForEver, mazeGarbagePort: func(c net.Conn) { _, _ = io.Copy(c, zeros{}) },
			mazeTLSPort: takeEverything(certificate.Certificate[0]),
		} {
			talkMaze(t, net.JoinHostPort(address, fmt.Sprint(port)), talk)
		}
	}
}

func listenMaze(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := internet.Listen("web", "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func serveMaze(t *testing.T, address string, certificate *tls.Certificate) {
	t.Helper()
	l := listenMaze(t, address)
	server := &http.Server{Handler: http.HandlerFunc(maze), ErrorLog: log.New(io.Discard, "", 0)}
	if certificate != nil {
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*certificate}, NextProtos: []string{"h2", "http/1.1"}}
		go func() { _ = server.ServeTLS(l, "", "") }()
	} else {
		go func() { _ = server.Serve(l) }()
	}
	t.Cleanup(func() { _ = server.Close() })
}

func talkMaze(t *testing.T, address string, talk func(net.Conn)) {
	t.Helper()
	l := listenMaze(t, address)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(20 * time.Second))
				talk(c)
			}()
		}
	}()
}

// greetForEver is a mail server whose greeting does not end.
func greetForEver(c net.Conn) {
	line := "220-" + strings.Repeat("x", 4000) + "\r\n"
	for {
		if _, err := io.WriteString(c, line); err != nil {
			return
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// maze answers a path that begins with /maze by a redirect to as long a URL as is followed, with as many cookies as are
// kept; robots.txt names sitemaps without end; any other path is a page without end, below as long a head as is read.
func maze(w http.ResponseWriter, r *http.Request) {
	var step int
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/maze"):
		_, _ = fmt.Sscanf(path, "/maze/%d", &step)
		onward(w, step)
	case path == "/robots.txt" && r.TLS == nil:
		onward(w, 0)
	case path == "/robots.txt":
		for i := range 5 {
			fmt.Fprintf(w, "Sitemap: https://%s/%d.xml\n", mazeWeb, i)
		}
		_, _ = io.CopyN(w, zeros{}, 8<<20)
	case strings.HasSuffix(path, ".xml") && r.TLS == nil:
		onward(w, 0)
	case strings.HasSuffix(path, ".xml"):
		_, _ = io.WriteString(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
		for range 32 << 10 {
			if _, err := io.WriteString(w, "<!--"+strings.Repeat(" ", 1017)+"-->"); err != nil {
				return
			}
		}
	default:
		for i := range 50 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.CopyN(w, zeros{}, 32<<20)
	}
}

// onward redirects to the next step. Browsers would take all of it.
func onward(w http.ResponseWriter, step int) {
	for i := range 15 {
		w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=%s; Path=/; Domain=maze-web.com", i, strings.Repeat("x", 1000)))
	}
	w.Header().Set("Location", fmt.Sprintf("/maze/%d?%s", step+1, strings.Repeat("x", 16_000)))
	w.WriteHeader(http.StatusFound)
}

func mazeCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{mazeWeb, "mta-sts." + mazeMail},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// longName is a name below the mail maze, long enough that three times as many characters would be too many.
func longName(label string, n int) string {
	long := strings.Repeat("x", 55) + "."
	return fmt.Sprintf("%s%d.%s%s%s%s", label, n, long, long, long, mazeMail)
}

// publishMailMaze makes every record lead to as many others as are looked up, each under a long name and with an answer
// that comes over TCP.
func publishMailMaze(t *testing.T) {
	t.Helper()
	publish := func(name string, records ...string) {
		internet.Script(name, lab.Step{Truncate: true, Records: records})
	}
	// No two hosts have the same first address, so that each of them has a name to look up.
	hosts := 0
	addresses := func() (lines []string) {
		for i := range 90 {
			n := 1 + (i+hosts)%90
			lines = append(lines, fmt.Sprintf("@ 300 IN A 11.80.1.%d", n), fmt.Sprintf("@ 300 IN AAAA 2a10:80:1::%x", n))
		}
		hosts++
		return lines
	}
	exchanges := func(of, count int) (lines []string) {
		for i := range count {
			name := longName(fmt.Sprintf("h%d-", of), i)
			publish(name, addresses()...)
			publish("_25._tcp."+name, "@ 300 IN TLSA 3 1 1 "+strings.Repeat("5a", 32))
			lines = append(lines, fmt.Sprintf("@ 300 IN MX 10 %s.", name))
		}
		return lines
	}
	for i := range 90 {
		for _, address := range []string{fmt.Sprintf("11.80.1.%d", 1+i), fmt.Sprintf("2a10:80:1::%x", 1+i)} {
			owner, err := dns.ReverseAddr(address)
			if err != nil {
				t.Fatal(err)
			}
			name := longName("p", i)
			publish(name, "@ 300 IN A 11.80.0.1")
			publish(strings.TrimSuffix(owner, "."), "@ 300 IN PTR "+name+".")
		}
	}
	for _, selector := range call(t, "email-dns-health", "lab-plain-mail.com", nil).list("checks.dkim.tried") {
		publish(selector+"._domainkey."+mazeMail, `@ 300 IN TXT "v=DKIM1; p=`+strings.Repeat("A", 200)+`"`)
	}
	publish("default._bimi."+mazeMail, `@ 300 IN TXT "v=BIMI1; l="`)
	// Texts of many strings, since one holds no more than 255 characters.
	var terms, reports strings.Builder
	for i := range 10 {
		name, foreign := longName("m", i), longName("r", i)+".net"
		publish(name, exchanges(i, 10)...)
		fmt.Fprintf(&terms, ` " mx:%s"`, name)
		fmt.Fprintf(&reports, ` "%smailto:r@%s"`, strings.Repeat(",", min(i, 1)), foreign)
		publish(mazeMail + "._report._dmarc." + foreign)
	}
	publish(mazeMail, append(exchanges(10, 15), `@ 300 IN TXT "v=spf1"`+terms.String()+` " -all"`)...)
	publish("_dmarc."+mazeMail, `@ 300 IN TXT "v=DMARC1; p=none; rua="`+reports.String())
	publish("_mta-sts."+mazeMail, `@ 300 IN TXT "v=STSv1; id=1"`)
	publish("mta-sts."+mazeMail, "@ 300 IN A 11.80.0.203")
	publish("_smtp._tls." + mazeMail)
	publish("s._domainkey." + mazeMail)
}
