package sslchecker

import (
	"context"
	"slices"
	"time"

	"diagnostics/gateway/internal/analyze/revocation"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

// Bounds on what is found out beside the scan.
const (
	// lookupTime is how long the lookups of CAA and TLSA may take, revocationTime how long the check of revocation.
	lookupTime     = 5 * time.Second
	revocationTime = 2 * time.Second
	// afterScan is how long all of it is waited for after the scan.
	afterScan = 2 * time.Second
)

// beside is what is found out about the certificate of one address while the server is scanned.
type beside struct {
	of         *Result
	cancel     context.CancelFunc
	revocation *parallel.Pending[chainStatus]
	caa        *parallel.Pending[foundCAA]
	tlsa       *parallel.Pending[foundTLSA]
}

// startBeside begins with what the certificates of one address say. Each part reports itself as a step, unless all of
// it was known.
func (i *inspection) startBeside(ctx context.Context, r *Result) *beside {
	ctx, cancel := context.WithCancel(ctx)
	quiet := progress.With(ctx, nil) // the stages are those of the scan
	b := &beside{of: r, cancel: cancel}
	b.revocation = parallel.Start(func() chainStatus {
		status := i.checkRevocation(quiet, r)
		if status.news {
			progress.Report(ctx, "revocation", "", describeRevocation(status.leaf))
		}
		return status
	})
	b.caa = parallel.Start(func() foundCAA {
		found := i.lookUpCAA(quiet, r)
		if found.news {
			progress.Report(ctx, "caa", "", found.describe(r))
		}
		return found
	})
	b.tlsa = parallel.Start(func() foundTLSA {
		found := i.lookUpTLSA(quiet)
		if found.news {
			progress.Report(ctx, "tlsa", "", found.describe(r))
		}
		return found
	})
	return b
}

// wait waits for all of it, not much longer than the scan took.
func (b *beside) wait() besideFacts {
	late := time.AfterFunc(afterScan, b.cancel)
	defer late.Stop()
	return besideFacts{b.of, b.revocation.Wait(), b.caa.Wait(), b.tlsa.Wait()}
}

// end cancels what is under way, and waits for it.
func (b *beside) end() {
	b.cancel()
	<-b.revocation.Done()
	<-b.caa.Done()
	<-b.tlsa.Done()
}

// besideFacts is what was found out about the certificate of one address.
type besideFacts struct {
	of     *Result
	status chainStatus
	caa    foundCAA
	tlsa   foundTLSA
}

// describe adds it to the result of an address, and returns what of it is a finding.
func (f besideFacts) describe(r *Result) []finding.Finding {
	verdict := revocation.Undecided(revocation.NotChecked, codeLate, nil)
	if r.Certificate.Fingerprint256 == f.of.Certificate.Fingerprint256 {
		verdict = f.status.leaf
	}
	r.Revocation = describeRevocation(verdict)
	r.CAA, r.TLSA = f.caa.describe(r, &r.Truncated), f.tlsa.describe(r, &r.Truncated)
	return slices.Concat(f.caa.findings(r.CAA), f.tlsa.findings(r.TLSA, r.Port))
}
