package sslchecker

import (
	"bufio"
	"errors"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"
)

const (
	starttlsMaxLine  = 4 << 10
	starttlsMaxLines = 128
	starttlsMaxBytes = 64 << 10 // of a whole dialogue
)

// starttlsName is what the SMTP dialogue introduces this service as: a complete name, which strict servers insist on,
// that is reserved (RFC 2606).
const starttlsName = "tls-check.invalid"

// starttlsByPort are the ports on which a plain-text protocol comes first.
var starttlsByPort = map[uint16]string{25: "smtp", 587: "smtp", 110: "pop3", 143: "imap"}

// The ways in which a dialogue fails, apart from those of the connection.
var (
	errStarttlsNotOffered = errors.New("the server does not offer STARTTLS")
	errStarttlsRejected   = errors.New("the server turned the connection away")
	errStarttlsProtocol   = errors.New("the server does not follow the protocol")
)

// starttlsRefused is a server that lists STARTTLS and answers the command so.
type starttlsRefused struct{ answer string }

func (e *starttlsRefused) Error() string { return "the server offers STARTTLS and answers " + e.answer }

// starttlsRejected is a server that turns the connection away with a line of text.
type starttlsRejected struct{ line string }

func (e *starttlsRejected) Error() string { return errStarttlsRejected.Error() }

func (e *starttlsRejected) Is(target error) bool { return target == errStarttlsRejected }

// starttlsBroken is a dialogue that ended in an error of the connection while an answer was awaited: to a command, or
// the greeting where that is empty. begun is that some of it had come.
type starttlsBroken struct {
	command string
	begun   bool
	err     error
}

func (e *starttlsBroken) Error() string { return e.err.Error() }

func (e *starttlsBroken) Unwrap() error { return e.err }

// startTLS runs the protocol (smtp, pop3 or imap) up to the point where the handshake begins.
func startTLS(conn net.Conn, protocol string) error {
	d := &dialogue{in: bufio.NewReaderSize(conn, starttlsMaxLine), out: conn}
	negotiate := map[string]func() error{"smtp": d.smtp, "pop3": d.pop3, "imap": d.imap}[protocol]
	if err := negotiate(); err != nil {
		return err
	}
	// Bytes sent along with the consent are not part of the TLS stream, and a client that drops them silently can be
	// made to mistake an injected answer for an encrypted one (CVE-2011-0411).
	if d.in.Buffered() > 0 {
		return errStarttlsProtocol
	}
	return nil
}

// dialogue is one conversation. lines and bytes count what was read of it.
type dialogue struct {
	in    *bufio.Reader
	out   io.Writer
	lines int
	bytes int
	// command is the one whose answer is awaited, and before is bytes when it was sent.
	command string
	before  int
}

func (d *dialogue) send(line string) error {
	words := strings.Fields(line)
	if d.command, d.before = words[0], d.bytes; len(words) > 1 && d.command != "EHLO" {
		d.command = words[1] // after the tag of IMAP
	}
	_, err := io.WriteString(d.out, line+"\r\n")
	return err
}

// line reads one line without its end.
func (d *dialogue) line() (string, error) {
	if d.lines++; d.lines > starttlsMaxLines {
		return "", errStarttlsProtocol
	}
	raw, err := d.in.ReadSlice('\n')
	d.bytes += len(raw)
	switch {
	case d.bytes > starttlsMaxBytes, errors.Is(err, bufio.ErrBufferFull), errors.Is(err, io.EOF) && len(raw) > 0:
		return "", errStarttlsProtocol
	case err != nil:
		return "", &starttlsBroken{d.command, d.bytes > d.before, err}
	}
	return strings.TrimRight(string(raw), "\r\n"), nil
}

func (d *dialogue) smtp() error {
	code, texts, err := d.smtpReply()
	if err != nil {
		return err
	}
	if code != "220" {
		return &starttlsRejected{code + " " + texts[0]}
	}
	if err := d.send("EHLO " + starttlsName); err != nil {
		return err
	}
	code, extensions, err := d.smtpReply()
	if err != nil {
		return err
	}
	if code == serviceClosing {
		return &starttlsRejected{code + " " + extensions[0]}
	}
	if code != "250" || !starttlsOffered(extensions) {
		return errStarttlsNotOffered
	}
	if err := d.send("STARTTLS"); err != nil {
		return err
	}
	code, texts, err = d.smtpReply()
	if err != nil {
		return err
	}
	if code == serviceClosing {
		return &starttlsRejected{code + " " + texts[0]}
	}
	if code != "220" {
		return &starttlsRefused{answer: code}
	}
	return nil
}

// serviceClosing is the code by which a server may end a dialogue at any point (RFC 5321 section 3.8).
const serviceClosing = "421"

// smtpReply reads one reply, of which every line repeats the code and all but the last join it by a hyphen (RFC 5321
// section 4.2.1).
func (d *dialogue) smtpReply() (code string, texts []string, err error) {
	for {
		line, err := d.line()
		if err != nil {
			return "", nil, err
		}
		parts := smtpLine.FindStringSubmatch(line)
		if parts == nil || code != "" && parts[1] != code {
			return "", nil, errStarttlsProtocol
		}
		code = parts[1]
		texts = append(texts, parts[3])
		if parts[2] != "-" {
			return code, texts, nil
		}
	}
}

// smtpLine is a code, and where there is text what joins it.
var smtpLine = regexp.MustCompile(`^([2-5][0-9]{2})(?:([ -])(.*))?$`)

// starttlsOffered reports whether a server offers STARTTLS in its answer to EHLO, whose first line is the server's name
// and no extension.
func starttlsOffered(lines []string) bool {
	return slices.ContainsFunc(lines[1:], func(line string) bool {
		keyword, _, _ := strings.Cut(line, " ")
		return strings.EqualFold(keyword, "STARTTLS")
	})
}

func (d *dialogue) pop3() error {
	ok, greeting, err := d.pop3Status()
	if err != nil {
		return err
	}
	if !ok {
		return &starttlsRejected{greeting}
	}
	if err := d.send("STLS"); err != nil {
		return err
	}
	ok, _, err = d.pop3Status()
	if err != nil {
		return err
	}
	if ok {
		return nil
	}
	if d.pop3Lists("STLS") {
		return &starttlsRefused{answer: "-ERR"}
	}
	return errStarttlsNotOffered
}

// pop3Lists reports whether the server lists a capability (RFC 2449 section 5), false where it does not answer.
func (d *dialogue) pop3Lists(capability string) bool {
	if d.send("CAPA") != nil {
		return false
	}
	if ok, _, err := d.pop3Status(); err != nil || !ok {
		return false
	}
	listed := false
	for {
		line, err := d.line()
		if err != nil {
			return false
		}
		if line == "." {
			return listed
		}
		name, _, _ := strings.Cut(line, " ")
		listed = listed || strings.EqualFold(name, capability)
	}
}

// pop3Status reads a status line (RFC 1939 section 3).
func (d *dialogue) pop3Status() (ok bool, line string, err error) {
	line, err = d.line()
	if err != nil {
		return false, "", err
	}
	status, _, _ := strings.Cut(line, " ")
	switch {
	case strings.EqualFold(status, "+OK"):
		return true, line, nil
	case strings.EqualFold(status, "-ERR"):
		return false, line, nil
	}
	return false, "", errStarttlsProtocol
}

func (d *dialogue) imap() error {
	greeting, err := d.line()
	if err != nil {
		return err
	}
	tag, status := splitIMAPLine(greeting)
	switch {
	case tag != "*":
		return errStarttlsProtocol
	case status == "BYE":
		return &starttlsRejected{greeting}
	case status == "PREAUTH":
		return errStarttlsNotOffered // RFC 9051 section 11.1: no longer possible then
	case status != "OK":
		return errStarttlsProtocol
	}
	const command = "a1"
	if err := d.send(command + " STARTTLS"); err != nil {
		return err
	}
	for {
		line, err := d.line()
		if err != nil {
			return err
		}
		tag, status := splitIMAPLine(line)
		switch {
		case tag == "*" && status == "BYE":
			return &starttlsRejected{line}
		case tag == "*":
			continue
		case tag != command:
			return errStarttlsProtocol
		case status == "OK":
			return nil
		case status != "NO" && status != "BAD":
			return errStarttlsProtocol
		case d.imapLists("STARTTLS"):
			return &starttlsRefused{answer: status}
		}
		return errStarttlsNotOffered
	}
}

// imapLists reports whether the server lists a capability (RFC 9051 section 6.1.1), false where it does not answer.
func (d *dialogue) imapLists(capability string) bool {
	const command = "a2"
	if d.send(command+" CAPABILITY") != nil {
		return false
	}
	listed := false
	for {
		line, err := d.line()
		if err != nil {
			return false
		}
		switch tag, status := splitIMAPLine(line); {
		case tag == "*" && status == "CAPABILITY":
			listed = slices.ContainsFunc(strings.Fields(line), func(name string) bool {
				return strings.EqualFold(name, capability)
			})
		case tag == command:
			return listed && status == "OK"
		}
	}
}

// splitIMAPLine gives the tag of a response and its status word in upper case (RFC 9051 section 7.1).
func splitIMAPLine(line string) (tag, status string) {
	tag, rest, _ := strings.Cut(line, " ")
	status, _, _ = strings.Cut(rest, " ")
	return tag, strings.ToUpper(status)
}
