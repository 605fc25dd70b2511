package dnsdelegation

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/progress"

	"github.com/miekg/dns"
)

// A stream has each zone and each server, without records, and those of the store at once.
func TestSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoServers...)
	w.both(healthy())
	for range 2 {
		var feed progress.Feed
		ctx := progress.With(t.Context(), &feed)
		if _, err := toolstest.Run(ctx, w.tool(t), tool.Input{Text: "example.com"}); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for at := uint64(0); ; {
			step, next, ok, _ := feed.Next(at)
			if !ok {
				break
			}
			at = next
			if step.Kind == progress.KindStage {
				continue
			}
			keys = append(keys, step.Kind+" "+step.Key)
			var value struct{ Records []string }
			if err := json.Unmarshal(step.Value.(json.RawMessage), &value); err != nil || len(value.Records) > 0 {
				t.Errorf("%s: %v, %v", step.Key, err, value.Records)
			}
		}
		slices.Sort(keys)
		if got := strings.Join(keys, ", "); got != "server example.com ns1.example.com "+oneV4+
			", server example.com ns2.example.com "+twoV4+", zone ., zone com, zone example.com" {
			t.Error(got)
		}
	}
}

// What a signed zone has of DNSSEC is shown, and nothing is called valid.
func TestSignedZone(t *testing.T) {
	t.Parallel()
	const keys = "@ IN DNSKEY 257 3 13 " +
		"mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==\n" +
		"@ IN DNSKEY 256 3 8 AwEAAcNEU67LJI5GEgF9QLNqLO1SMq1EdoQ6E9f85ha0k0ewQGCblyW2836GiVsm6k8Kr5ECIoMJ6fZWf3CQSQ9ycWfTyOHf\n"
	key := mustRR(strings.Replace(strings.Split(keys, "\n")[0], "@", "example.com.", 1)).(*dns.DNSKEY)
	ds := key.ToDS(dns.SHA256)
	stale := "example.com. IN DS 1 13 2 " + strings.Repeat("00", 32)
	w := newWorld(t, append(slices.Clone(twoServers), ds.String(), stale)...)
	w.both(healthy(keys,
		"@ IN RRSIG DNSKEY 13 2 3600 20261231000000 20261101000000 55648 example.com. AAAA",
		"@ IN RRSIG SOA 8 2 3600 20261231000000 20261101000000 1 example.com. AAAA",
		"@ IN NSEC3PARAM 1 0 5 AB", "b4um86eghhds6nea196smvmlo4ors995 IN NSEC3 1 1 5 AB b4um86eghhds6nea196smvmlo4ors996 A",
		strings.Replace(ds.String(), "\tDS\t", "\tCDS\t", 1)))
	r := w.check(t, "example.com")
	z := r.Zones[2]
	if len(z.DS) != 2 || !z.DS[0].Matches || z.DS[1].Matches || z.DS[0].Algorithm != (numbered{13, "ECDSAP256SHA256"}) {
		t.Errorf("DS %+v", z.DS)
	}
	if len(z.Keys) != 2 || z.Keys[0].Role != "ksk" || *z.Keys[0].Bits != 256 || z.Keys[1].Role != "zsk" ||
		*z.Keys[1].Bits != 544 {
		t.Errorf("keys %+v", z.Keys)
	}
	if len(z.Signatures) != 2 || z.Signatures[0].Valid || z.Signatures[0].Covers != "DNSKEY" ||
		z.Signatures[0].Expiration != "2026-12-31T00:00:00Z" {
		t.Errorf("signatures %+v", z.Signatures)
	}
	if z.Denial == nil || z.Denial.Kind != "nsec3" || *z.Denial.Iterations != 5 || !*z.Denial.OptOut {
		t.Errorf("denial %+v", z.Denial)
	}
	if z.Rollover != nil {
		t.Errorf("a rollover that nothing vouches for: %+v", z.Rollover)
	}
	if r.DNSSEC != "indeterminate" || r.Reason == nil || r.Reason.Code != unmatched || z.Reason == nil {
		t.Errorf("%s, %+v, %+v", r.DNSSEC, r.Reason, z.Reason)
	}
}

// A domain that is not registered comes with the proof of its absence, and the zone of the registry that is kept has it
// for no other.
func TestProofOfAbsence(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "com. IN NSEC zzz.com. NS SOA RRSIG NSEC DNSKEY")
	for range 2 {
		r := w.check(t, "example.com")
		z := r.Zones[1]
		records := strings.Join(z.Records, "\n")
		if z.Denial == nil || z.Denial.Kind != "nsec" || !strings.Contains(records, "com. 3600 IN NSEC zzz.com.") {
			t.Errorf("%+v", z)
		}
	}
	kept := w.shared.get("com.")
	if lines, _ := kept.lines(); strings.Contains(strings.Join(lines, "\n"), "NSEC") {
		t.Errorf("kept: %v", lines)
	}
}

// FuzzMessages reads any message as each of the replies of a zone.
func FuzzMessages(f *testing.F) {
	for _, line := range []string{"example.com. IN NS ns.example.com.", "example.com. IN DNSKEY 257 3 8 AwEAAQ==",
		"example.com. IN DS 1 8 2 00", "example.com. IN CDS 0 0 0 00", "example.com. IN SOA a b 1 2 3 4 5"} {
		m := new(dns.Msg).SetQuestion("example.com.", dns.TypeNS)
		m.Response, m.Answer, m.Ns = true, []dns.RR{mustRR(line)}, []dns.RR{mustRR(line)}
		packet, _ := m.Pack()
		f.Add(packet)
	}
	r := newRun(f.Context(), Config{Egress: egresstest.New(f).Client(nil), Now: time.Now}, quick)
	f.Fuzz(func(t *testing.T, packet []byte) {
		p := reply{from: endpoint{name: "ns.", address: netip.MustParseAddr(oneV4)}}
		p.Msg = new(dns.Msg)
		if p.Unpack(packet) != nil || len(p.Question) != 1 || p.Question[0].Name == "." {
			return
		}
		name := dns.CanonicalName(p.Question[0].Name)
		c, ok := readCut(".", name, p)
		if ok && (!below(name, c.name) || c.name == ".") {
			t.Errorf("%s is delegated at %s", name, c.name)
		}
		z := &zone{cut: cut{name: name, reply: &p}, parent: ".", ds: &p, keys: &p, cds: &p, cdnskey: &p, ns: &p, random: &p}
		z.hosts = []*host{{name: "ns.", addresses: []netip.Addr{p.from.address}}}
		z.checks = []*check{{endpoint: p.from, zone: name, good: true, udp: stateAnswer, tcp: stateAnswer, soa: &p, ns: &p}}
		z.checks[0].good = z.checks[0].authoritative()
		z.describe(r, nil, true)
		(&report{}).judgeZone(z)
		for _, qtype := range answerTypes {
			(&chain{}).answerRows(name, []*answer{{name: name, qtype: qtype, reply: &p}})
		}
	})
}
