// Package cause describes foreseen errors for the log without their texts, which hold names and addresses.
package cause

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"diagnostics/shared/parallel"
	"diagnostics/shared/redact"
)

// Of returns the operation that failed, such as "dial", "lookup" or "open", and a stable code, such as
// "connection_refused". The operation is empty where the error names none. The code is "other" for an error that is
// none of the standard library's, not Loggable and not one of known, which are variables whose text the caller wrote.
func Of(err error, known ...error) (operation, code string) {
	for ; err != nil; err = next(err) {
		if operation == "" {
			operation = operationOf(err)
		}
		if code = codeOf(err, known); code != "" {
			return operation, code
		}
	}
	return operation, "other"
}

// Fields are Of as the arguments of a log line: "operation", where there is one, and "code", each with its value.
func Fields(err error, known ...error) (fields []any) {
	operation, code := Of(err, known...)
	if operation != "" {
		fields = append(fields, "operation", operation)
	}
	return append(fields, "code", code)
}

// next is what an error wraps, the first of several.
func next(err error) error {
	if all, is := err.(interface{ Unwrap() []error }); is { //nolint:errorlint // each is looked at by itself
		for _, e := range all.Unwrap() {
			return e
		}
	}
	return errors.Unwrap(err)
}

func operationOf(err error) string {
	switch e := err.(type) { //nolint:errorlint // each is looked at by itself
	case *net.OpError:
		return e.Op
	case *os.PathError:
		return e.Op
	case *os.SyscallError:
		return e.Syscall
	case *net.DNSError:
		return "lookup"
	}
	return ""
}

// constants are errors whose text is always the same.
var constants = map[error]string{
	context.Canceled: "canceled", context.DeadlineExceeded: "deadline", os.ErrDeadlineExceeded: "timeout",
	io.EOF: "eof", io.ErrUnexpectedEOF: "unexpected_eof", io.ErrClosedPipe: "closed", net.ErrClosed: "closed",
}

func codeOf(err error, known []error) string {
	switch e := err.(type) { //nolint:errorlint // each is looked at by itself
	case redact.Loggable:
		return word(e.LogText())
	case *parallel.Panic:
		return "panic"
	case syscall.Errno:
		return word(e.Error())
	case *net.DNSError:
		return codeOfLookup(e)
	case tls.AlertError:
		return fmt.Sprintf("tls_alert_%d", uint8(e))
	case x509.UnknownAuthorityError:
		return "unknown_authority"
	case x509.HostnameError:
		return "certificate_name"
	case x509.CertificateInvalidError:
		return fmt.Sprintf("certificate_invalid_%d", e.Reason)
	}
	if slices.Contains(known, err) {
		return word(err.Error())
	}
	for constant, code := range constants {
		if err == constant { //nolint:errorlint // what wraps it is looked at before
			return code
		}
	}
	timeout, is := err.(net.Error) //nolint:errorlint // as above
	if is && timeout.Timeout() && errors.Unwrap(err) == nil {
		return "timeout"
	}
	return ""
}

func codeOfLookup(e *net.DNSError) string {
	switch {
	case e.IsNotFound:
		return "not_found"
	case e.IsTimeout:
		return "timeout"
	}
	return "failed"
}

// word makes a code of a text that is always the same.
func word(text string) string { return strings.NewReplacer(": ", "_", " ", "_").Replace(text) }
