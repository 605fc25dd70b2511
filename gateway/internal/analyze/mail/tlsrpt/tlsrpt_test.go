package tlsrpt

import (
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/mail/mailtest"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		txt   []string
		found bool
		uris  []string
		want  []string
	}{
		{nil, false, nil, nil},
		{[]string{"other"}, false, nil, nil},
		{[]string{"v=TLSRPTv1; rua=mailto:a@b.com"}, true, []string{"mailto:a@b.com"}, nil},
		{[]string{"v=TLSRPTv1;rua=mailto:a@b.com,https://c.com/r", "other"}, true, []string{"mailto:a@b.com", "https://c.com/r"}, nil},
		{[]string{"v=TLSRPTv1; rua=mailto:a@b.com; ext=1;"}, true, []string{"mailto:a@b.com"}, nil},
		{[]string{"v=TLSRPTv1; rua=mailto:a@b.com", "v=TLSRPTv1; rua=mailto:a@b.com"}, true, nil, []string{"TLSRPT_SEVERAL_RECORDS"}},
		{[]string{"v=tlsrptv1; rua=mailto:a@b.com"}, false, nil, []string{"TLSRPT_VERSION"}},
		{[]string{" v=TLSRPTv1; rua=mailto:a@b.com"}, false, nil, []string{"TLSRPT_VERSION"}},
		{[]string{"v= TLSRPTv1; rua=mailto:a@b.com"}, false, nil, []string{"TLSRPT_VERSION"}},
		{[]string{"v=TLSRPTv1"}, true, nil, []string{"TLSRPT_NO_ADDRESS"}},
		{[]string{"v=TLSRPTv1; rua="}, true, nil, []string{"TLSRPT_NO_ADDRESS"}},
		{[]string{"v=TLSRPTv1; rua=a@b.com"}, true, nil, []string{"TLSRPT_NO_USABLE_ADDRESS", "TLSRPT_URI_INVALID"}},
		{[]string{"v=TLSRPTv1; rua=http://b.com,mailto:a@b.com"}, true, []string{"mailto:a@b.com"}, []string{"TLSRPT_URI_INVALID"}},
		{[]string{"v=TLSRPTv1; nonsense; rua=mailto:a@b.com"}, true, []string{"mailto:a@b.com"}, []string{"TLSRPT_SYNTAX"}},
		{[]string{"v=TLSRPTv1; rua=" + strings.Repeat("mailto:a@b.com,", 20) + "mailto:a@b.com"}, true, slices.Repeat([]string{"mailto:a@b.com"}, 20), []string{"TLSRPT_TOO_MANY_ADDRESSES"}},
	} {
		r := Read(c.txt)
		if diff := cmp.Diff(append([]string{}, c.want...), mailtest.Codes(r.Issues)); diff != "" || r.Found != c.found {
			t.Errorf("%.80q: found %t, %s", c.txt, r.Found, diff)
		}
		if diff := cmp.Diff(c.uris, r.Addresses); diff != "" {
			t.Errorf("%.80q: %s", c.txt, diff)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"v=TLSRPTv1; rua=mailto:a@b.com,https://c.com/r", "v=TLSRPTv1",
		"v=TLSRPTv1; rua=mailto:%40,x:,,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, record string) {
		r := Read([]string{record})
		if len(r.Addresses) > maxAddresses || len(r.Addresses) > 0 && !r.Found {
			t.Fatalf("%q: %+v", record, r)
		}
		mailtest.Showable(t, r.Issues)
	})
}
