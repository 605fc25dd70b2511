package tlsserver

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"time"

	"diagnostics/lab/internal/site"
)

// rawServer has every connection in a conversation that is no program's.
func rawServer(talk func(context.Context, net.Conn)) func(*workshop, Server) error {
	return func(w *workshop, s Server) error { return w.serve(s.at(0), talk) }
}

// afterHello reads the ClientHello and says something.
func afterHello(say func(ctx context.Context, c net.Conn)) func(*workshop, Server) error {
	return rawServer(func(ctx context.Context, c net.Conn) {
		if _, err := readMessage(c); err != nil {
			return
		}
		say(ctx, c)
		// The client's goodbye is read, so that what was said is not lost to a reset.
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.Copy(io.Discard, c)
	})
}

// firstMessage is a ServerHello for a suite that everybody offers.
func firstMessage() []byte {
	return message(serverHello, helloBody(tls.VersionTLS12, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256))
}

// drip sends a ServerHello one octet a second.
func drip(ctx context.Context, c net.Conn) {
	for _, b := range record(recordHandshake, tls.VersionTLS12, firstMessage()) {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return
		}
		if _, err := c.Write([]byte{b}); err != nil {
			return
		}
	}
}

// oversized announces sixteen megabytes of certificates, and sends them for as long as anyone takes them.
func oversized(_ context.Context, c net.Conn) {
	const all = 1<<24 - 1
	head := []byte{certificateMessage, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc}
	if _, err := c.Write(record(recordHandshake, tls.VersionTLS12, append(firstMessage(), head...))); err != nil {
		return
	}
	part := record(recordHandshake, tls.VersionTLS12, make([]byte, 1<<14))
	for range all >> 14 {
		if _, err := c.Write(part); err != nil {
			return
		}
	}
}

// endless sends warnings without end, none of which says anything (RFC 5246 section 7.2).
func endless(ctx context.Context, c net.Conn) {
	const warning, noRenegotiation = 1, 100
	one := record(recordAlert, tls.VersionTLS12, []byte{warning, noRenegotiation})
	for ctx.Err() == nil {
		if _, err := c.Write(one); err != nil {
			return
		}
	}
}

// emptyRecords sends records of nothing without end.
func emptyRecords(ctx context.Context, c net.Conn) {
	one := record(recordHandshake, tls.VersionTLS12, nil)
	for ctx.Err() == nil {
		if _, err := c.Write(one); err != nil {
			return
		}
	}
}

// wrongLength sends a ServerHello whose session is longer than the message.
func wrongLength(_ context.Context, c net.Conn) {
	hello := firstMessage()
	hello[4+34] = 200
	_, _ = c.Write(record(recordHandshake, tls.VersionTLS12, hello))
}

// wrongRecord sends a record that claims more than any may hold (RFC 5246 section 6.2.3).
func wrongRecord(_ context.Context, c net.Conn) {
	_, _ = c.Write(append([]byte{recordHandshake, 3, 3, 0xff, 0xff}, make([]byte, 0xffff)...))
}

// oneRead is a server that takes a ClientHello for whole after one read of the size of a packet, as some do that were
// written before key exchanges were longer than that; it resets what is longer.
func oneRead(o site.Order) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		config, err := w.served(s, o)
		if err != nil {
			return err
		}
		config.MaxVersion = tls.VersionTLS12
		config.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
		config.CurvePreferences = []tls.CurveID{tls.X25519, tls.CurveP256}
		return w.serve(s.at(0), func(ctx context.Context, c net.Conn) {
			head := make([]byte, 1400)
			n, err := c.Read(head)
			if err != nil {
				return
			}
			if n < 5 || n < 5+int(head[3])<<8+int(head[4]) {
				if t, ok := c.(*net.TCPConn); ok {
					_ = t.SetLinger(0)
				}
				return
			}
			answering(config)(ctx, &begun{Conn: c, start: head[:n]})
		})
	}
}

// begun is a connection of which something was read already.
type begun struct {
	net.Conn
	start []byte
}

func (b *begun) Read(p []byte) (int, error) {
	if len(b.start) == 0 {
		return b.Conn.Read(p)
	}
	n := copy(p, b.start)
	b.start = b.start[n:]
	return n, nil
}

// lateServer is a server of Go that waits before it reads.
func lateServer(wait time.Duration) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		config, err := w.served(s, site.Order{})
		if err != nil {
			return err
		}
		talk := answering(config)
		return w.serve(s.at(0), func(ctx context.Context, c net.Conn) {
			select {
			case <-time.After(wait):
				talk(ctx, c)
			case <-ctx.Done():
			}
		})
	}
}

// mailServer starts TLS where configured, and where the order is nil offers it and refuses.
func mailServer(protocol string, o *site.Order) func(*workshop, Server) error {
	return func(w *workshop, s Server) error {
		var config *tls.Config
		if o != nil {
			var err error
			if config, err = w.served(s, *o); err != nil {
				return err
			}
			config.MinVersion = tls.VersionTLS12
		}
		return w.serve(s.at(0), func(ctx context.Context, c net.Conn) { site.TalkMail(ctx, c, protocol, config) })
	}
}
