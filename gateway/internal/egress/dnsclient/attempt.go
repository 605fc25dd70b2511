package dnsclient

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

const (
	// ednsSize is the UDP payload that is sure not to be fragmented (DNS flag day 2020).
	ednsSize = 1232
	// readSize leaves room for servers that do not keep to it.
	readSize = 4096
)

// question is what is queried: name fully qualified and in canonical case; dnssec sets the DO bit, unchecked the CD
// bit, and authority leaves the RD bit out.
type question struct {
	name      string
	qtype     uint16
	dnssec    bool
	unchecked bool
	authority bool
}

// attempt is one question to one server.
type attempt struct {
	dial    DialFunc
	server  netip.AddrPort
	reading memory.Semaphore
	question
}

// reply is what is left of a message once it was read.
type reply struct {
	answer      Answer
	truncated   bool
	rejectsEDNS bool
}

// errMalformed is the outcome where the only messages with our id could not be read.
var errMalformed = errors.New("malformed answer")

// run queries over UDP; a server that chokes on EDNS is queried again without (RFC 6891 section 7).
func (a attempt) run(ctx context.Context) (Answer, error) {
	got, err := a.ask(ctx, a.query(true))
	if err == nil && got.rejectsEDNS {
		got, err = a.ask(ctx, a.query(false))
	}
	return got.answer, err
}

// ask goes over TCP where the answer over UDP was cut short.
func (a attempt) ask(ctx context.Context, query *dns.Msg) (reply, error) {
	got, err := a.answerOver(ctx, "udp", query)
	if err != nil || !got.truncated {
		return got, err
	}
	got, err = a.answerOver(ctx, "tcp", query)
	if err == nil && got.truncated {
		return reply{}, errMalformed // there is room for all of it, so what is missing is unknown
	}
	return got, err
}

func (a attempt) answerOver(ctx context.Context, transport string, query *dns.Msg) (got reply, err error) {
	err = a.over(ctx, transport, query, func(m *dns.Msg) {
		got = reply{answer: readAnswer(m, a.question), truncated: m.Truncated, rejectsEDNS: rejectsEDNS(m)}
	})
	return got, err
}

// over sends the query over a connection of its own, so that every query has a source port of its own, and reads
// messages until one answers it: what does not is, over UDP, another sender's guess, and must not end the wait for the
// true one. That message is passed to keep, which cuts what is too long of it.
func (a attempt) over(ctx context.Context, transport string, query *dns.Msg, keep func(*dns.Msg)) error {
	packet, err := query.Pack()
	if err != nil {
		return err
	}
	c, err := a.dial(ctx, transport, a.server)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	defer parallel.Interrupt(ctx, c)()

	receive := readDatagram
	if transport == "tcp" {
		receive = readStream
		// #nosec G115 -- a question is a few hundred bytes
		packet = append(binary.BigEndian.AppendUint16(nil, uint16(len(packet))), packet...)
	}
	if _, err := c.Write(packet); err != nil {
		return err
	}
	buffer := make([]byte, readSize)
	var malformed error
	for {
		received, err := receive(ctx, c, buffer)
		if err != nil {
			return errors.Join(malformed, err)
		}
		ok, err := a.read(ctx, received, query, keep)
		switch {
		case ok:
			return nil
		case err == nil && transport == "tcp":
			return errMalformed // no one else can have sent it
		case err != nil && (transport == "tcp" || !errors.Is(err, errMalformed)):
			return err
		case err != nil:
			malformed = err
		}
	}
}

func (a attempt) query(edns bool) *dns.Msg {
	m := new(dns.Msg)
	m.SetQuestion(a.name, a.qtype)
	m.RecursionDesired = !a.authority
	m.CheckingDisabled = a.unchecked
	m.AuthenticatedData = !a.authority // requests the AD bit of the answer (RFC 6840 section 5.7)
	if edns {
		m.SetEdns0(ednsSize, a.dnssec)
	}
	return m
}

func readDatagram(_ context.Context, r io.Reader, buffer []byte) ([]byte, error) {
	n, err := r.Read(buffer)
	return buffer[:n], err
}

// readStream reads one message with its length before it (RFC 1035 section 4.2.2).
func readStream(ctx context.Context, r io.Reader, buffer []byte) ([]byte, error) {
	if _, err := io.ReadFull(r, buffer[:2]); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint16(buffer))
	memory.Count(ctx, size)
	message := make([]byte, size)
	_, err := io.ReadFull(r, message)
	return message, err
}

// readMessage gives the message if it answers the query, nil if it does not, and errMalformed if it claims to but
// cannot be read.
func readMessage(packet []byte, query *dns.Msg) (*dns.Msg, error) {
	m := new(dns.Msg)
	err := m.Unpack(packet)
	switch {
	case !m.Response || m.Id != query.Id || m.Opcode != dns.OpcodeQuery:
		return nil, nil
	case err != nil && m.Truncated && sameQuestion(m, query):
		// Some servers cut a message in the middle of a record. That it is to be queried over TCP can still be read.
		return m, nil
	case err != nil:
		return nil, errMalformed
	case !sameQuestion(m, query):
		return nil, nil
	case !m.Truncated && slices.ContainsFunc(m.Answer, isCutShort):
		return nil, errMalformed
	}
	return m, nil
}

// sameQuestion reports whether an answer is to the question. It also takes an answer without any question where it only
// says that the server will not answer: several servers send no more than a header then.
func sameQuestion(m, query *dns.Msg) bool {
	if len(m.Question) == 0 {
		return m.Rcode != dns.RcodeSuccess && m.Rcode != dns.RcodeNameError && len(m.Answer) == 0
	}
	if len(m.Question) != 1 {
		return false
	}
	got, asked := m.Question[0], query.Question[0]
	return got.Qtype == asked.Qtype && got.Qclass == asked.Qclass && strings.EqualFold(got.Name, asked.Name)
}

func rejectsEDNS(m *dns.Msg) bool {
	switch m.Rcode {
	case dns.RcodeFormatError, dns.RcodeNotImplemented, dns.RcodeBadVers:
		return true
	}
	return false
}

// codeOfError gives the code for an attempt without an answer.
func codeOfError(err error) string {
	switch {
	case errors.Is(err, errMalformed):
		return CodeBadResp
	case fault.IsTimeout(err), errors.Is(err, context.Canceled):
		return CodeTimeout
	}
	return CodeConnRefused
}
