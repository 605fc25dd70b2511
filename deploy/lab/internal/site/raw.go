package site

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// idle is how long a conversation waits for a client that says nothing.
const idle = 30 * time.Second

// mute accepts and never says a word.
func mute(ctx context.Context, c net.Conn) {
	<-ctx.Done()
}

// banner speaks first, and no TLS: what an SSH server on port 443 does.
func banner(text string) func(context.Context, net.Conn) {
	return func(_ context.Context, c net.Conn) {
		_ = c.SetDeadline(time.Now().Add(idle))
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, c)
	}
}

// reset reads the first bytes and answers with RST.
func reset(_ context.Context, c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(idle))
	_, _ = c.Read(make([]byte, 1024))
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
}

// once reads a request's head and answers with fixed bytes, then closes: HTTP/1.0, or no HTTP at all.
func once(answer string) func(context.Context, net.Conn) {
	return func(_ context.Context, c net.Conn) {
		_ = c.SetDeadline(time.Now().Add(idle))
		in := bufio.NewReader(c)
		for {
			line, err := in.ReadString('\n')
			if err != nil || strings.TrimSpace(line) == "" {
				break
			}
		}
		_, _ = io.WriteString(c, answer)
	}
}

// mailProtocol speaks enough of a mail protocol to offer and start TLS.
type mailProtocol struct {
	greeting string
	// answers are by the first word of a line, upper-cased (the second of an IMAP line, whose first is its tag).
	answers func(word, tag string) (text string, upgrade, quit bool)
	tagged  bool
}

func (p mailProtocol) talk(ctx context.Context, c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(idle))
	if _, err := io.WriteString(c, p.greeting); err != nil {
		return
	}
	in := bufio.NewReader(c)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		words := append(strings.Fields(line), "", "")
		word, tag := words[0], ""
		if p.tagged {
			tag, word = words[0], words[1]
		}
		text, upgrade, quit := p.answers(strings.ToUpper(word), tag)
		if _, err := io.WriteString(c, text); err != nil || quit {
			return
		}
		if upgrade {
			config, _ := ctx.Value(startTLSKey{}).(*tls.Config)
			secured := tls.Server(c, config)
			if secured.HandshakeContext(ctx) != nil {
				return
			}
			c, in = secured, bufio.NewReader(secured)
		}
	}
}

// TalkMail is the conversation of a mail server: smtp, pop3 or imap. It starts TLS as the configuration says; without
// one it offers TLS and then refuses it.
func TalkMail(ctx context.Context, c net.Conn, protocol string, config *tls.Config) {
	p := map[string]mailProtocol{"smtp": smtp, "pop3": pop3, "imap": imap}[protocol]
	if config == nil {
		p = p.refusing()
	}
	p.talk(context.WithValue(ctx, startTLSKey{}, config), c)
}

// refusing is the protocol of a server that offers what it does not do.
func (p mailProtocol) refusing() mailProtocol {
	answers := p.answers
	p.answers = func(word, tag string) (string, bool, bool) {
		switch word {
		case "STARTTLS":
			if p.tagged {
				return tag + " NO not now\r\n", false, false
			}
			return "454 4.7.0 TLS not available due to temporary reason\r\n", false, false
		case "STLS":
			return "-ERR not now\r\n", false, false
		}
		return answers(word, tag)
	}
	return p
}

// startTLSKey carries the TLS configuration to a conversation that starts it by itself.
type startTLSKey struct{}

var smtp = mailProtocol{
	greeting: "220 mail.lab-site.com ESMTP ready\r\n",
	answers: func(word, _ string) (string, bool, bool) {
		switch word {
		case "EHLO":
			return "250-mail.lab-site.com\r\n250-PIPELINING\r\n250 STARTTLS\r\n", false, false
		case "HELO", "NOOP", "RSET":
			return "250 ok\r\n", false, false
		case "STARTTLS":
			return "220 go ahead\r\n", true, false
		case "QUIT":
			return "221 bye\r\n", false, true
		}
		return "502 not here\r\n", false, false
	},
}

var pop3 = mailProtocol{
	greeting: "+OK ready\r\n",
	answers: func(word, _ string) (string, bool, bool) {
		switch word {
		case "CAPA":
			return "+OK\r\nSTLS\r\nUIDL\r\n.\r\n", false, false
		case "STLS":
			return "+OK begin\r\n", true, false
		case "QUIT":
			return "+OK bye\r\n", false, true
		}
		return "-ERR no\r\n", false, false
	},
}

var imap = mailProtocol{
	greeting: "* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n",
	tagged:   true,
	answers: func(word, tag string) (string, bool, bool) {
		switch word {
		case "CAPABILITY":
			return fmt.Sprintf("* CAPABILITY IMAP4rev1 STARTTLS\r\n%s OK done\r\n", tag), false, false
		case "STARTTLS":
			return tag + " OK begin\r\n", true, false
		case "LOGOUT":
			return "* BYE\r\n" + tag + " OK bye\r\n", false, true
		}
		return tag + " BAD no\r\n", false, false
	},
}

const (
	// UnknownFrames is how many frames "frames" sends of a type that HTTP/2 does not define.
	UnknownFrames = 20_000
	// Unsolicited is what "unsolicited" says after its answer.
	Unsolicited = "token=hunter2-unsolicited"
)

// unknownFrames speaks HTTP/2 as far as clients need (RFC 9113 sections 3.4 and 4.1), and then sends only frames of a
// type that HTTP/2 does not define.
func unknownFrames(_ context.Context, c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(idle))
	const (
		settings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
		unknown  = "\x00\x00\x00\x77\x00\x00\x00\x00\x00"
	)
	if _, err := io.WriteString(c, settings+strings.Repeat(unknown, UnknownFrames)); err != nil {
		return
	}
	// Time to read them all, before the connection ends.
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.Copy(io.Discard, c)
}
