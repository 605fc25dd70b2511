package whois

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/providers/registry"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

// serverPace limits the queries to one server. Registries that name a limit allow some dozens of questions a minute.
var serverPace = pace.Pace{Burst: 5, Every: time.Second}

// provider describes a server to the gate.
func provider(server target.Host) registry.Server {
	return registry.Server{
		Provider: upstream.WHOIS, Authority: server.Name() + ":" + strconv.Itoa(port), Pace: serverPace,
		Args: called(server),
	}
}

// ask waits until a server may be queried, sends it one line, and returns the text of its answer within limit: UTF-8,
// or ISO 8859-1 if it is not that. It fails with a *fault.Error (Upstream, Timeout or Busy) or with the error of ctx.
// An answer longer than MaxText is a failure.
func (c *Client) ask(ctx context.Context, server target.Host, question string, limit time.Duration) (string, error) {
	if err := c.gate.Wait(ctx, provider(server), 0); err != nil {
		return "", err
	}
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	answer, err := c.roundTrip(progress.Ask(inner, server.Short()), server, question)
	switch {
	case err != nil && ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
	case len(answer) > MaxText:
		err = fault.New(fault.Upstream, "PROVIDER_ANSWER_TOO_LONG", called(server).With(finding.Args{"limit": "64 KiB"}))
	default:
		err = processor.Spend(ctx, weight.WHOIS, len(answer))
	}
	c.egress.Providers().Asked(upstream.WHOIS, upstream.OutcomeOf(ctx, err), time.Since(began))
	if err != nil {
		return "", err
	}
	return text.Decode(answer), nil
}

func (c *Client) roundTrip(ctx context.Context, server target.Host, question string) ([]byte, error) {
	began := time.Now()
	conn, err := c.egress.ConnectUncharged(ctx, server, port)
	if err != nil {
		return nil, fault.OfServer(err, called(server), "")
	}
	defer func() { _ = conn.Close() }()
	defer parallel.Interrupt(ctx, conn)()
	var answer []byte
	if _, err = io.WriteString(conn, question+"\r\n"); err == nil {
		answer, err = io.ReadAll(io.LimitReader(conn, MaxText+1)) // one octet more than may come
	}
	if err != nil {
		return nil, c.broken(ctx, server, conn, began, err)
	}
	return answer, nil
}

// called are the arguments that name the server in a sentence.
func called(server target.Host) finding.Args {
	return finding.Args{"provider": "WHOIS_SERVER", "server": server.Short()}
}

// broken types the failure of a conversation.
func (c *Client) broken(ctx context.Context, server target.Host, conn net.Conn, began time.Time, err error) error {
	if _, typed := errors.AsType[*fault.Error](err); typed {
		return err
	}
	if own := c.egress.OwnFault(err, remote(conn), began); own != nil {
		return own
	}
	if ctx.Err() != nil || fault.IsTimeout(err) {
		return fault.Wrap(fault.Timeout, err, "PROVIDER_BODY_TIMEOUT", called(server))
	}
	return fault.Wrap(fault.Upstream, err, "PROVIDER_BROKE_OFF", called(server))
}

func remote(conn net.Conn) netip.Addr {
	at, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	return at.Addr().Unmap()
}
