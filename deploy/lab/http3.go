package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"diagnostics/lab/internal/site"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// HTTP3Zone is the domain of the servers of HTTP/3.
const HTTP3Zone = "h3." + SiteZone

// HTTP3Server is a web server whose HTTP/3 has one temper, with the truth about it.
type HTTP3Server struct {
	Host, Note string
	// AltSvc is the header of its answers over TCP, and HTTPS its HTTPS record; empty for none.
	AltSvc, HTTPS string
	// Works is nil where no packet may be sent to it. Codes are the findings on HTTP/3 of a check, in alphabetical order.
	Works *bool
	Codes []string
	// Address is the server's, which HTTP/3 is served at where it is not elsewhere.
	Address netip.Addr

	serve func(*http3Place) error
}

// URL is the page of the server.
func (s HTTP3Server) URL() string { return "https://" + s.Host + "/" }

// http3Place is where a server runs.
type http3Place struct {
	lab    *Lab
	at     netip.AddrPort
	config *tls.Config
}

const offersHTTP3 = `h3=":443"; ma=86400`

// http3Servers are all, with the codes of gateway/internal/tools/internal/webview.
func http3Servers() []HTTP3Server {
	yes, no := new(true), new(false)
	return []HTTP3Server{
		{Host: "works", Note: "works, and Alt-Svc offers it", AltSvc: offersHTTP3, serve: answer, Works: yes,
			Codes: []string{"HTTP3_WORKS"}},
		{Host: "record", Note: "works, and Alt-Svc and the HTTPS record offer it", AltSvc: offersHTTP3,
			HTTPS: "alpn=h3,h2 ipv4hint=ADDRESS", serve: answer, Works: yes, Codes: []string{"HTTP3_WORKS"}},
		{Host: "unadvertised", Note: "works, and nothing offers it", serve: answer, Works: yes,
			Codes: []string{"HTTP3_NOT_ADVERTISED"}},
		{Host: "dropped", Note: "offered, and UDP is dropped", AltSvc: offersHTTP3, serve: silence, Works: no,
			Codes: []string{"HTTP3_DROPPED"}},
		{Host: "refused", Note: "offered, and the UDP port is closed", AltSvc: offersHTTP3, Works: no,
			Codes: []string{"HTTP3_REFUSED"}},
		{Host: "absent", Note: "not offered, and the UDP port is closed", Works: no},
		{Host: "stranger", Note: "offered, with a certificate of another name", AltSvc: offersHTTP3, serve: stranger,
			Works: no, Codes: []string{"HTTP3_CERTIFICATE"}},
		{Host: "draft", Note: "offers a draft alone", AltSvc: `h3-29=":443"; ma=86400`, Works: no,
			Codes: []string{"HTTP3_DRAFT_ONLY"}},
		{Host: "hints", Note: "works, and the HTTPS record hints at other addresses", AltSvc: offersHTTP3,
			HTTPS: "alpn=h3 ipv4hint=10.1.2.3", serve: answer, Works: yes,
			Codes: []string{"HTTP3_HINTS_DIFFER", "HTTP3_WORKS"}},
		{Host: "elsewhere", Note: "offered at another host and port", AltSvc: `h3="alt.` + HTTP3Zone + `:8443"`,
			serve: elsewhere, Works: yes, Codes: []string{"HTTP3_WORKS"}},
		{Host: "private", Note: "offered at a private address", AltSvc: `h3="private.` + SiteZone + `:443"`, Works: no,
			Codes: []string{"HTTP3_NOT_PUBLIC"}},
		{Host: "retry", Note: "validates addresses by Retry", AltSvc: offersHTTP3, serve: retry, Works: yes,
			Codes: []string{"HTTP3_WORKS"}},
		{Host: "versions", Note: "speaks a draft of QUIC alone", AltSvc: offersHTTP3, serve: versions, Works: no,
			Codes: []string{"HTTP3_FAILS"}},
		{Host: "flood", Note: "answers with datagrams without end", AltSvc: offersHTTP3, serve: flood, Works: no,
			Codes: []string{"HTTP3_FAILS"}},
		{Host: "repeats", Note: "repeats its last datagram without end", AltSvc: offersHTTP3, serve: repeats, Works: no,
			Codes: []string{"HTTP3_FAILS"}},
		{Host: "moves", Note: "answers from another port after its first flight", AltSvc: offersHTTP3, serve: moves,
			Works: no, Codes: []string{"HTTP3_FAILS"}},
		{Host: "waits", Note: "says nothing after the handshake", AltSvc: offersHTTP3, serve: waits, Works: no,
			Codes: []string{"HTTP3_FAILS"}},
		{Host: "long", Note: "sends a header of 200 KB", AltSvc: offersHTTP3, serve: long, Works: no,
			Codes: []string{"HTTP3_FAILS"}},
	}
}

// StartHTTP3Servers runs the servers and publishes their names.
func (l *Lab) StartHTTP3Servers() ([]HTTP3Server, error) {
	const first = 220 // of the addresses of the node, of which the last are free
	all := http3Servers()
	for i := range all {
		s := &all[i]
		s.Address, _ = tlsAddress(first + i)
		if s.HTTPS != "" {
			s.HTTPS = "1 . " + strings.ReplaceAll(s.HTTPS, "ADDRESS", s.Address.String())
		}
		if err := l.startHTTP3(s); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Host, err)
		}
	}
	return all, nil
}

func (l *Lab) startHTTP3(s *HTTP3Server) error {
	s.Host += "." + HTTP3Zone
	lines := addressRecords(s.Host, s.Address, netip.Addr{})
	if s.HTTPS != "" {
		lines = append(lines, s.Host+". 300 IN HTTPS "+s.HTTPS)
	}
	certificate, err := l.Certificate(site.Order{Names: []string{s.Host}})
	if err != nil {
		return errors.Join(err, l.Publish(lines...))
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	at := netip.AddrPortFrom(s.Address, 443)
	listener, err := l.Listen(tlsNode, "tcp4", at.String())
	if err != nil {
		return err
	}
	altSvc := s.AltSvc
	page := &http.Server{ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if altSvc != "" {
				w.Header().Set("Alt-Svc", altSvc)
			}
			_, _ = io.WriteString(w, "hello\n")
		})}
	l.onClose(page.Close)
	go func() { _ = page.Serve(tls.NewListener(listener, config)) }()
	if err := l.Publish(lines...); err != nil || s.serve == nil {
		return err
	}
	return s.serve(&http3Place{lab: l, at: at, config: config})
}

// packets is the socket of the server, closed with the lab.
func (p *http3Place) packets() (net.PacketConn, error) {
	c, err := p.lab.ListenPacket(tlsNode, "udp4", p.at.String())
	if err == nil {
		p.lab.onClose(c.Close)
	}
	return c, err
}

// serveHTTP3 answers over a socket, or what stands before one.
func (p *http3Place) serveHTTP3(c net.PacketConn, h http.HandlerFunc) error {
	s := &http3.Server{Handler: h, TLSConfig: http3.ConfigureTLSConfig(p.config)}
	p.lab.onClose(s.Close)
	go func() { _ = s.Serve(c) }()
	return nil
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello over HTTP/3\n") }

func answer(p *http3Place) error {
	c, err := p.packets()
	if err != nil {
		return err
	}
	return p.serveHTTP3(c, hello)
}

func silence(p *http3Place) error {
	_, err := p.packets()
	return err
}

func stranger(p *http3Place) error {
	certificate, err := p.lab.Certificate(site.Order{Names: []string{"other." + HTTP3Zone}})
	if err != nil {
		return err
	}
	p.config = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13}
	return answer(p)
}

func elsewhere(p *http3Place) error {
	v4, _ := tlsAddress(250)
	p.at = netip.AddrPortFrom(v4, 8443)
	if err := p.lab.Publish(addressRecords("alt."+HTTP3Zone, v4, netip.Addr{})...); err != nil {
		return err
	}
	return answer(p)
}

func long(p *http3Place) error {
	c, err := p.packets()
	if err != nil {
		return err
	}
	return p.serveHTTP3(c, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 200 {
			w.Header().Set(fmt.Sprintf("X-Long-%d", i), string(slices.Repeat([]byte("a"), 1000)))
		}
	})
}

// accept hands the connections of the server to h.
func (p *http3Place) accept(t *quic.Transport, h func(*quic.Conn)) error {
	l, err := t.Listen(http3.ConfigureTLSConfig(p.config), nil)
	if err != nil {
		return err
	}
	p.lab.onClose(func() error { return errors.Join(l.Close(), t.Close()) })
	go func() {
		for {
			c, err := l.Accept(context.Background())
			if err != nil {
				return
			}
			go h(c)
		}
	}()
	return nil
}

func retry(p *http3Place) error {
	c, err := p.packets()
	if err != nil {
		return err
	}
	s := &http3.Server{Handler: http.HandlerFunc(hello)}
	always := func(net.Addr) bool { return true }
	return p.accept(&quic.Transport{Conn: c, VerifySourceAddress: always}, func(c *quic.Conn) { _ = s.ServeQUICConn(c) })
}

func waits(p *http3Place) error {
	c, err := p.packets()
	if err != nil {
		return err
	}
	return p.accept(&quic.Transport{Conn: c}, func(c *quic.Conn) { <-c.Context().Done() })
}

// datagrams answers every datagram.
func datagrams(p *http3Place, answer func(c net.PacketConn, to net.Addr, datagram []byte)) error {
	c, err := p.packets()
	if err != nil {
		return err
	}
	go func() {
		for buffer := make([]byte, 2048); ; {
			n, from, err := c.ReadFrom(buffer)
			if err != nil {
				return
			}
			answer(c, from, buffer[:n])
		}
	}()
	return nil
}

// versions answers with a packet of version negotiation (RFC 9000 section 17.2.1) that has draft-29.
func versions(p *http3Place) error {
	return datagrams(p, func(c net.PacketConn, to net.Addr, b []byte) {
		if len(b) < 1200 || len(b) < 7+int(b[5]) {
			return
		}
		destination, rest := b[6:6+b[5]], b[6+b[5]:]
		packet := append([]byte{0xc0, 0, 0, 0, 0, rest[0]}, rest[1:1+rest[0]]...)
		packet = append(append(packet, byte(len(destination))), destination...)
		_, _ = c.WriteTo(append(packet, 0xff, 0, 0, 29), to)
	})
}

// floodDatagrams is far more than a client that bounds anything reads.
const floodDatagrams = 3_000

// flood answers with copies of what came.
func flood(p *http3Place) error {
	return datagrams(p, func(c net.PacketConn, to net.Addr, b []byte) {
		for range floodDatagrams {
			_, _ = c.WriteTo(b, to)
		}
	})
}

// repeats sends each of the server's datagrams many times.
func repeats(p *http3Place) error {
	c, err := p.packets()
	if err != nil {
		return err
	}
	return p.serveHTTP3(&changed{PacketConn: c, write: func(c net.PacketConn, b []byte, to net.Addr) (int, error) {
		for range floodDatagrams / 3 {
			_, _ = c.WriteTo(b, to)
		}
		return c.WriteTo(b, to)
	}}, hello)
}

// moves sends what follows the first flight from another port.
func moves(p *http3Place) error {
	c, err := p.packets()
	if err != nil {
		return err
	}
	other := *p
	other.at = netip.AddrPortFrom(p.at.Addr(), 444)
	from, err := other.packets()
	if err != nil {
		return err
	}
	// The library writes to each client from another goroutine.
	var begun sync.Map
	return p.serveHTTP3(&changed{PacketConn: c, write: func(c net.PacketConn, b []byte, to net.Addr) (int, error) {
		if _, later := begun.LoadOrStore(to.String(), nil); later {
			return from.WriteTo(b, to)
		}
		return c.WriteTo(b, to)
	}}, hello)
}

// changed is a socket whose datagrams take another way.
type changed struct {
	net.PacketConn
	write func(c net.PacketConn, b []byte, to net.Addr) (int, error)
}

func (c *changed) WriteTo(b []byte, to net.Addr) (int, error) { return c.write(c.PacketConn, b, to) }

// SetReadBuffer and SetWriteBuffer keep the library's remark on buffers off the log.
func (c *changed) SetReadBuffer(int) error { return nil }

// SetWriteBuffer is described with SetReadBuffer.
func (c *changed) SetWriteBuffer(int) error { return nil }
