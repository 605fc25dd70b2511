package spf_test

import (
	"context"
	"fmt"
	"net/netip"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/spf"
)

// zone answers for TXT records alone.
type zone map[string]string

func (z zone) TXT(_ context.Context, name string) ([]string, error) {
	if record, ok := z[name]; ok {
		return []string{record}, nil
	}
	return nil, mail.ErrNotFound
}

func (zone) MX(context.Context, string) ([]string, error)            { return nil, nil }
func (zone) Addresses(context.Context, string) ([]netip.Addr, error) { return nil, nil }
func (zone) V4(context.Context, string) ([]netip.Addr, error)        { return nil, nil }

// A check follows every term, and counts the lookups that a receiver would have to make.
func ExampleCheck() {
	dns := zone{
		"example.com":      "v=spf1 include:_spf.example.net ?all",
		"_spf.example.net": "v=spf1 ip4:1.1.1.0/24 ~all",
	}
	report := spf.Check(context.Background(), dns, "example.com")
	fmt.Println(report.Tree.Lookups, "lookup; all:", report.All)
	for _, issue := range report.Issues {
		fmt.Println(issue.Code)
	}
	// Output:
	// 1 lookup; all: ?all
	// SPF_NEUTRAL_ALL
}
