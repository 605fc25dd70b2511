package whoislookup

import (
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/registration"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

func codesOf(r finding.Report) string {
	var codes []string
	for _, f := range r.Findings {
		codes = append(codes, f.Code)
	}
	return strings.Join(codes, " ")
}

func TestReportOfADomain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	in := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	for name, c := range map[string]struct {
		ends     string
		statuses string
		signed   *bool
		code     string
		state    finding.State
		findings string
	}{
		"well":                {in(31 * 24 * time.Hour), "client transfer prohibited,active", new(true), codeRegistered, finding.OK, ""},
		"not signed":          {in(900 * time.Hour), "ok", new(false), codeRegistered, finding.OK, codeUnsigned},
		"without an end":      {"", "", nil, codeRegisteredNoEnd, finding.OK, ""},
		"an odd end":          {"soon", "", nil, codeRegisteredNoEnd, finding.OK, ""},
		"30 days":             {in(soon), "", nil, codeRegistered, finding.OK, ""},
		"less than 30 days":   {in(soon - time.Second), "", nil, codeExpiresSoon, finding.Warned, codeExpiresSoon},
		"this second":         {in(0), "", nil, codeExpiresSoon, finding.Warned, codeExpiresSoon},
		"ended":               {in(-time.Second), "", nil, codeExpired, finding.Failed, codeExpired},
		"ended and held":      {in(-time.Hour), "clientHold", new(false), codeHold, finding.Failed, codeHold + " " + codeExpired + " " + codeUnsigned},
		"held by both":        {"", "client hold,serverHold,SERVER HOLD", nil, codeHold, finding.Failed, codeHold + " " + codeHold},
		"inactive":            {"", "inactive", nil, codeInactive, finding.Warned, codeInactive},
		"redemption":          {"", "redemption period", nil, codeRedemption, finding.Failed, codeRedemption},
		"pending delete":      {"", "pendingDelete,redemptionPeriod", nil, codePendingDelete, finding.Failed, codePendingDelete + " " + codeRedemption},
		"renew prohibited":    {"", "serverRenewProhibited", nil, codeNoRenewal, finding.Warned, codeNoRenewal},
		"update prohibited":   {"", "serverUpdateProhibited", nil, codeRegisteredNoEnd, finding.OK, ""},
		"a registry's word":   {"", "connect", nil, codeRegisteredNoEnd, finding.OK, ""},
		"auto renew":          {"", "auto renew period", nil, codeAutoRenew, finding.Warned, codeAutoRenew},
		"transfer and create": {"", "pendingTransfer,pendingCreate,pendingRestore", nil, codePendingRestore, finding.Warned, codePendingRestore + " " + codePendingTransfer + " " + codePendingCreate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &rdap.Domain{Name: "example.com", UnicodeName: "example.com", Status: strings.Split(c.statuses, ","),
				Events: rdap.Events{Expires: format.TextOrNull(c.ends)}, DNSSEC: rdap.DNSSEC{Signed: c.signed}}
			got := (&Result{Domain: d}).report(now)
			if got.Conclusion.Code != c.code || got.Conclusion.State != c.state || codesOf(got) != c.findings {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestReportWithoutADomain(t *testing.T) {
	t.Parallel()
	domain := "example.com"
	for name, c := range map[string]struct {
		result Result
		code   string
		state  finding.State
	}{
		"no such name":     {Result{RegistrableDomain: &domain, Reason: new(rdap.NotFound)}, codeNotRegistered, finding.Noted},
		"reserved":         {Result{RegistrableDomain: &domain, Reason: new(rdap.Reserved)}, codeReserved, finding.Noted},
		"no such network":  {Result{Query: "11.91.0.1", Reason: new(rdap.NotFound)}, codeNoNetwork, finding.Noted},
		"no service":       {Result{RegistrableDomain: &domain, Reason: new(rdap.NoService)}, codeNoService, finding.Unknown},
		"no such TLD":      {Result{RegistrableDomain: &domain, Reason: new(rdap.NoService), undelegated: true}, codeNoTLD, finding.Failed},
		"a suffix":         {Result{RegistrableDomain: &domain, Reason: new(rdap.NotFound), suffix: true}, codeSuffix, finding.Noted},
		"no service of IP": {Result{Query: "11.91.0.1", Reason: new(rdap.NoService)}, codeNoService, finding.Unknown},
		"a network":        {Result{Query: "11.91.0.1", Network: &registration.Network{Allocation: rdap.Allocation{Handle: "H"}}}, codeNetwork, finding.OK},
	} {
		got := c.result.report(time.Now())
		if got.Conclusion.Code != c.code || got.Conclusion.State != c.state ||
			(len(got.Findings) == 0) != (c.state == finding.OK) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTextOfARegistryIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x\u202e", 5000)
	d := &rdap.Domain{Name: "example.com", UnicodeName: long, Registrar: &rdap.Registrar{Name: &long}}
	got := (&Result{Domain: d}).report(time.Now()).Conclusion.Message
	if len(got) > 1000 || strings.Contains(got, "\u202e") {
		t.Errorf("%d bytes: %.100s", len(got), got)
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
}
