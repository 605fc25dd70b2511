package dnslookup

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/miekg/dns"
)

const twenty = "A, AAAA, MX, TXT, CNAME, NS, SOA, " +
	"CAA, SRV, HTTPS, SVCB, DS, DNSKEY, TLSA, NAPTR, PTR, SSHFP, URI, LOC, HINFO"

func TestTypes(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`"A"`: "A", `"caa"`: "CAA", `"Https,a"`: "A, HTTPS", `" MX , txt "`: "MX, TXT", `"A,a,A"`: "A", `"all"`: twenty, `" ALL "`: twenty,
		`"HINFO,LOC,URI,SSHFP,PTR,NAPTR,TLSA,DNSKEY,DS,SVCB,HTTPS,SRV,CAA,SOA,NS,CNAME,TXT,MX,AAAA,A"`: twenty,
		`null`: "A, AAAA, MX, TXT, CNAME, NS, SOA",
	} {
		got, err := parseTypes(tool.Options{"types": json.RawMessage(value)})
		if err != nil || typeNames(got) != want {
			t.Errorf("%s: %s, %v; want %s", value, typeNames(got), err, want)
		}
	}
	if got, err := parseTypes(nil); err != nil || typeNames(got) != "A, AAAA, MX, TXT, CNAME, NS, SOA" {
		t.Errorf("absent: %s, %v", typeNames(got), err)
	}
	const named = "The option types must be a comma-separated list of " + twenty + ", or all by itself."
	for value, want := range map[string]string{
		`""`: named, `" "`: named, `","`: named, `"A,"`: named, `",A"`: named, `"A,,MX"`: named, `"A MX"`: named, `"A;MX"`: named,
		`"ANY"`: named, `"AXFR"`: named, `"RRSIG"`: named, `"TYPE1"`: named, `"1"`: named, `"all,A"`: named, `"A,all"`: named, `"None"`: named,
		`"*"`: named, `"A\u0000"`: named, `"ａ"`: named,
		`7`: named, `["A"]`: named, `true`: named, `{}`: named,
	} {
		got, err := parseTypes(tool.Options{"types": json.RawMessage(value)})
		if !fault.Is(err, fault.Invalid) || err.Error() != want {
			t.Errorf("%s: %v, %v", value, got, err)
		}
	}
}

// TestKeysAreTheTypesAskedFor: no key more or less in records and details, and in errors none but theirs.
func TestKeysAreTheTypesAskedFor(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN A 93.184.216.34")
	for _, asked := range []string{"A", "CAA,A", "PTR", "all", "HTTPS,SVCB,HINFO"} {
		options := tool.Options{"types": json.RawMessage(`"` + asked + `"`)}
		got := toolstest.MustRun[Result](t, New(n.Client(nil)), tool.Input{Text: "example.com", Options: options})
		raw, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Records map[string]json.RawMessage
			Details map[string]json.RawMessage
			Errors  map[string]string
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			t.Fatal(err)
		}
		types, _ := parseTypes(options)
		want := strings.Split(typeNames(types), ", ")
		slices.Sort(want)
		if keys := slices.Sorted(maps.Keys(answer.Records)); !slices.Equal(keys, want) {
			t.Errorf("%s: records %v", asked, keys)
		}
		if keys := slices.Sorted(maps.Keys(answer.Details)); !slices.Equal(keys, want) {
			t.Errorf("%s: details %v", asked, keys)
		}
		empty := slices.DeleteFunc(slices.Clone(want), func(t string) bool { return t == "A" })
		if keys := slices.Sorted(maps.Keys(answer.Errors)); !slices.Equal(keys, empty) {
			t.Errorf("%s: errors %v", asked, keys)
		}
		for kind, list := range answer.Records {
			if string(list) != "[]" && kind != "A" {
				t.Errorf("%s: %s is %s", asked, kind, list)
			}
		}
		if got := len(n.Queries()); asked == "A" && got != 1 {
			t.Errorf("A alone took %d questions", got)
		}
	}
}

// TestTwentyTypesInTwoRounds: ten queries of one run are under way at a time, and each is sent once.
func TestTwentyTypesInTwoRounds(t *testing.T) {
	t.Parallel()
	const delay = 50 * time.Millisecond
	n := egresstest.New(t)
	var open, most atomic.Int32
	n.Handle("example.com", func(q *dns.Msg) *dns.Msg {
		now := open.Add(1)
		for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
		}
		time.Sleep(delay) // so that queries overlap: how many did is what is tested
		open.Add(-1)
		return new(dns.Msg).SetReply(q)
	})
	client := n.Client(nil)
	for range 2 { // the second time there is nothing to query
		if _, err := run(t.Context(), client, "example.com", allTypes[:]); err != nil {
			t.Fatal(err)
		}
	}
	for _, qtype := range allTypes {
		if got := n.QueriesFor("example.com", qtype); got < 1 {
			t.Errorf("%s was not asked", dns.TypeToString[qtype])
		}
	}
	if got := most.Load(); got > atOnce || got < 2 {
		t.Errorf("%d questions at once", got)
	}
}

func TestReverseNameOfAnAddress(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("34.216.184.93.in-addr.arpa. 300 IN PTR b.example.com.",
		"34.216.184.93.in-addr.arpa. 300 IN PTR a.example.com.")
	one := New(n.Client(nil))
	options := tool.Options{"types": json.RawMessage(`"PTR"`)}
	got := toolstest.MustRun[Result](t, one, tool.Input{Text: "34.216.184.93.IN-ADDR.ARPA.", Options: options})
	if !slices.Equal(got.Records.PTR, []string{"a.example.com", "b.example.com"}) {
		t.Errorf("%v", got.Records.PTR)
	}
	for typed, want := range map[string]string{
		"93.184.216.34":   "93.184.216.34 is an IP address. Enter a public domain name, such as example.com; the records of this address are under 34.216.184.93.in-addr.arpa.",
		"2606:4700::1111": "2606:4700::1111 is an IP address. Enter a public domain name, such as example.com; the records of this address are under 1.1.1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.7.4.6.0.6.2.ip6.arpa.",
		"10.0.0.1":        "10.0.0.1 is an IP address. Enter a public domain name, such as example.com.",
	} {
		_, err := one.Parse(tool.Input{Text: typed})
		if !fault.Is(err, fault.Invalid) || err.Error() != want {
			t.Errorf("%s: %v", typed, err)
		}
	}
	// What the sentence offers is taken.
	offered := "1.1.1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.7.4.6.0.6.2.ip6.arpa"
	if _, err := one.Parse(tool.Input{Text: offered}); err != nil {
		t.Error(err)
	}
	if _, err := one.Parse(tool.Input{Text: "1.0.0.10.in-addr.arpa", Options: options}); !fault.Is(err, fault.Refused) {
		t.Errorf("a private address: %v", err)
	}
}
