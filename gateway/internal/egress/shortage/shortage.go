// Package shortage separates what this host itself lacks, be it files, ports, memory or a link, from what a target or a
// provider does. The first says nothing about the second, and must never be reported as its fault
// (docs/contract.md#outcomes-and-errors).
package shortage

import (
	"errors"
	"slices"
	"syscall"
	"time"

	"diagnostics/gateway/internal/fault"
)

// errnos are the errors of a system call by which this host says that it has run out of something. None of them can
// come from the network. The errors of a missing route are not among them: those may come from another router.
var errnos = []syscall.Errno{
	syscall.EMFILE,        // the process has as many files as it may
	syscall.ENFILE,        // so has the system
	syscall.ENOBUFS,       // no room for the packet, or no memory for the socket
	syscall.ENOMEM,        // no memory
	syscall.ENOSPC,        // no further file can be watched
	syscall.EADDRNOTAVAIL, // every port of TCP is taken, or this host has no address to send from
	syscall.EAGAIN,        // every port of UDP is taken
	syscall.ENETDOWN,      // the link is down
}

// Is reports whether the error is one of a shortage.
func Is(err error) bool {
	return slices.ContainsFunc(errnos, func(errno syscall.Errno) bool { return errors.Is(err, errno) })
}

// Of returns the failure to report where the error is one of a shortage, else nil.
func Of(err error) error {
	if !Is(err) {
		return nil
	}
	return Fault(err)
}

// retryAfter is when a visitor may try again: what is missing now is usually there a moment later.
const retryAfter = time.Second

// Fault is the failure of a run by this service's own fault, of kind Busy.
func Fault(cause error) *fault.Error {
	return &fault.Error{
		Kind:       fault.Busy,
		Rule:       fault.RuleShortage,
		Code:       "SHORTAGE_HERE",
		RetryAfter: retryAfter,
		Cause:      cause,
	}
}
