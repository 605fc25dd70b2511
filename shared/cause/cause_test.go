package cause

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
)

type said string

func (s said) Error() string   { return "hunter2 " + string(s) }
func (s said) LogText() string { return string(s) }

func TestOf(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 443},
		Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	ours := errors.New("a text of ours")
	for _, c := range []struct {
		err             error
		operation, code string
	}{
		{refused, "dial", "connection_refused"},
		{&url.Error{Op: "Get", URL: "https://hunter2/", Err: refused}, "dial", "connection_refused"},
		{errors.New("hunter2"), "", "other"},
		{fmt.Errorf("hunter2: %w", io.EOF), "", "eof"},
		{errors.Join(io.ErrUnexpectedEOF, errors.New("hunter2")), "", "unexpected_eof"},
		{&net.DNSError{Name: "hunter2.example", Err: "no such host", IsNotFound: true}, "lookup", "not_found"},
		{&net.DNSError{Name: "hunter2.example", Err: "i/o timeout", IsTimeout: true}, "lookup", "timeout"},
		{&net.DNSError{Name: "hunter2.example", Err: "server misbehaving"}, "lookup", "failed"},
		{&os.PathError{Op: "open", Path: "/hunter2", Err: syscall.ENOENT}, "open", "no_such_file_or_directory"},
		{context.Canceled, "", "canceled"},
		{context.DeadlineExceeded, "", "deadline"},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, "read", "timeout"},
		{net.ErrClosed, "", "closed"},
		{&net.OpError{Op: "remote error", Err: tls.AlertError(40)}, "remote error", "tls_alert_40"},
		{&tls.CertificateVerificationError{Err: x509.HostnameError{Host: "hunter2"}}, "", "certificate_name"},
		{x509.UnknownAuthorityError{}, "", "unknown_authority"},
		{x509.CertificateInvalidError{Reason: x509.Expired, Detail: "hunter2"}, "", "certificate_invalid_1"},
		{fmt.Errorf("hunter2: %w", ours), "", "a_text_of_ours"},
		{fmt.Errorf("hunter2: %w", said("fine")), "", "fine"},
		{&url.Error{Op: "Get", URL: "https://hunter2/"}, "", "other"},
	} {
		operation, code := Of(c.err, ours)
		if operation != c.operation || code != c.code {
			t.Errorf("%v: %q, %q; want %q, %q", c.err, operation, code, c.operation, c.code)
		}
	}
	if _, code := Of(ours); code != "other" {
		t.Errorf("an error that the caller does not name: %q", code)
	}
}
