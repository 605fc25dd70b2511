package tlsa

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func TestRead(t *testing.T) {
	t.Parallel()
	var answer []dns.RR
	for _, line := range []string{"_25._tcp.a.com. 60 IN TLSA 3 1 1 AB CD", "a.com. 60 IN A 192.0.2.1",
		"_25._tcp.a.com. 60 IN TLSA 255 254 253 00"} {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		answer = append(answer, rr)
	}
	want := []Record{{3, 1, 1, "abcd"}, {255, 254, 253, "00"}}
	if diff := cmp.Diff(want, Read(answer)); diff != "" {
		t.Error(diff)
	}
	if got := Read(nil); got == nil || len(got) != 0 {
		t.Errorf("%v, want an empty list", got)
	}
	if got := want[1].Params(); got != "255 254 253" {
		t.Error(got)
	}
}

func TestProblem(t *testing.T) {
	t.Parallel()
	digest := func(octets int) string { return strings.Repeat("5a", octets) }
	for _, c := range []struct {
		record Record
		want   string // empty if the record can be used
		zero   bool
	}{
		{record: Record{3, 1, 1, digest(32)}},
		{record: Record{2, 0, 1, digest(32)}},
		{record: Record{3, 0, 2, digest(64)}},
		{record: Record{3, 1, 1, strings.Repeat("00", 32)}, zero: true},
		{record: Record{3, 1, 1, strings.Repeat("00", 31)}, want: "TLSA_DIGEST_LENGTH", zero: true},
		{record: Record{3, 1, 1, strings.Repeat("00", 31) + "01"}},
		{record: Record{3, 1, 1, digest(31)}, want: "TLSA_DIGEST_LENGTH"},
		{record: Record{3, 1, 1, digest(33)}, want: "TLSA_DIGEST_LENGTH"},
		{record: Record{3, 1, 2, digest(63)}, want: "TLSA_DIGEST_LENGTH"},
		{record: Record{3, 1, 2, digest(65)}, want: "TLSA_DIGEST_LENGTH"},
		{record: Record{0, 0, 1, digest(32)}, want: "TLSA_USAGE_FOR_WEB"},
		{record: Record{1, 0, 1, digest(32)}, want: "TLSA_USAGE_FOR_WEB"},
		{record: Record{4, 1, 1, digest(32)}, want: "TLSA_USAGE_UNKNOWN"},
		{record: Record{255, 1, 1, digest(32)}, want: "TLSA_USAGE_UNKNOWN"},
		{record: Record{3, 2, 1, digest(32)}, want: "TLSA_SELECTOR_UNKNOWN"},
		{record: Record{3, 1, 3, digest(32)}, want: "TLSA_MATCHING_UNKNOWN"},
		{record: Record{3, 1, 1, ""}, want: "TLSA_NO_DATA"},
		{record: Record{3, 1, 1, "5"}, want: "TLSA_NO_DATA"},
		{record: Record{3, 1, 0, "3003020101"}},
		{record: Record{3, 1, 0, "300302010100"}, want: "TLSA_DATA_INCOMPLETE"},
		{record: Record{3, 1, 0, "30030201"}, want: "TLSA_DATA_INCOMPLETE"},
		{record: Record{3, 1, 0, "020101"}, want: "TLSA_DATA_INCOMPLETE"},
		{record: Record{3, 1, 0, digest(32)}, want: "TLSA_DATA_INCOMPLETE"},
	} {
		if got, args := c.record.Problem(); got != c.want {
			t.Errorf("%v: %s %v, want %s", c.record, got, args, c.want)
		}
		if c.record.Zero() != c.zero {
			t.Errorf("%v: all zeros %t", c.record, !c.zero)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(uint8(3), uint8(1), uint8(1), strings.Repeat("00", 32))
	f.Add(uint8(2), uint8(0), uint8(0), "3003020101")
	f.Fuzz(func(t *testing.T, usage, selector, matching uint8, data string) {
		r := Record{usage, selector, matching, data}
		problem, _ := r.Problem()
		if problem == "" && (usage < 2 || usage > 3 || selector > 1 || matching > 2 || data == "") {
			t.Fatalf("%v can be used", r)
		}
		if r.Zero() && strings.Trim(data, "0") != "" {
			t.Fatalf("%v is all zeros", r)
		}
	})
}
