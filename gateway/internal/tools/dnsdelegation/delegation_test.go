package dnsdelegation

import (
	"strings"
	"syscall"
	"testing"

	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/miekg/dns"
)

// both serves a zone at the two addresses of twoServers.
func (w *world) both(zone string) {
	w.ZoneServer([]string{oneV4}, zone)
	w.ZoneServer([]string{twoV4}, zone)
}

// scripted serves the healthy zone at the first address, and at the second answers by a script.
func (w *world) scripted(script func(dns.ResponseWriter, *dns.Msg)) {
	w.ZoneServer([]string{oneV4}, healthy())
	w.NameServer(twoV4 + ":53").HandleAll(script)
}

// changed is a server of the healthy zone that changes its answers.
func (w *world) changed(change func(q, m *dns.Msg) *dns.Msg) {
	w.ZoneServer([]string{oneV4}, healthy())
	s := w.ZoneServer([]string{twoV4}, healthy())
	s.HandleAll(func(rw dns.ResponseWriter, q *dns.Msg) {
		if m := change(q, s.Answer(q)); m != nil {
			_ = rw.WriteMsg(m)
		}
	})
}

// A finding is about what other tools name alike, and else about a server or a zone.
func TestSubjects(t *testing.T) {
	t.Parallel()
	p := report{name: "www.example.com."}
	for _, c := range []struct{ code, server, want string }{
		{codeNotDelegated, "", "resolution of www.example.com"},
		{codeNoAnswer, "", "resolution of www.example.com"},
		{"DNSSEC_DS_KEY_MISSING", "", "resolution of www.example.com"},
		{codeServerBogus, "ns1.example.com.", "resolution of www.example.com"},
		{codeContradicts, "", "denials of www.example.com"},
		{"DNSSEC_DENIAL_CONTRADICTS", "", "denials of www.example.com"},
		{"DNSSEC_NO_DS", "", "DNSSEC of example.com"},
		{"DNSSEC_SIGNATURE_EXPIRES_SOON", "", "DNSSEC of example.com"},
		{codeSilent, "ns1.example.com.", "name server ns1.example.com"},
		{codeSingle, "", "zone example.com"},
	} {
		p.list = nil
		p.add(c.code, "example.com.", c.server, nil)
		if got := *p.list[0].Subject; got != c.want {
			t.Errorf("%s: %q, want %q", c.code, got, c.want)
		}
	}
}

func without(lines []string, drop string) []string {
	var kept []string
	for _, line := range lines {
		if !strings.HasPrefix(line, drop) {
			kept = append(kept, line)
		}
	}
	return kept
}

func TestDelegations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		com    []string // default twoServers
		serve  func(w *world)
		input  string // default example.com
		want   string // the verdict and the codes of the findings
		zones  string // default ". com example.com"
		reason string // of a finding's message, a part
	}{
		"healthy":        {serve: func(w *world) { w.both(healthy()) }, want: "ok"},
		"a name below":   {serve: func(w *world) { w.both(healthy()) }, input: "www.example.com", want: "ok"},
		"not registered": {com: []string{}, want: "fail NOT_DELEGATED", zones: ". com", reason: "say that it does not exist"},
		"a missing name": {serve: func(w *world) { w.both(healthy()) }, input: "nope.example.com", want: "warn NAME_NOT_FOUND"},
		"a missing TLD":  {input: "example.nosuchtld", want: "fail NOT_DELEGATED", zones: "."},
		"all refuse": {serve: func(w *world) {
			w.NameServer(oneV4 + ":53").HandleAll(refusing)
			w.NameServer(twoV4 + ":53").HandleAll(refusing)
		}, want: "fail ALL_SERVERS_LAME", reason: "REFUSED"},
		"all are silent": {serve: func(w *world) {
			w.NameServer(oneV4 + ":53").HandleAll(silent)
			w.NameServer(twoV4 + ":53").HandleAll(silent)
		}, want: "fail NO_SERVER_ANSWERS"},
		"no one is there":  {want: "fail NO_SERVER_ANSWERS"},
		"one is silent":    {serve: func(w *world) { w.scripted(silent) }, want: "warn SERVER_SILENT", reason: "ns2.example.com"},
		"one refuses":      {serve: func(w *world) { w.scripted(refusing) }, want: "warn SERVER_REFUSES", reason: twoV4},
		"one is not there": {serve: func(w *world) { w.ZoneServer([]string{oneV4}, healthy()) }, want: "warn SERVER_SILENT"},
		"one fails": {serve: func(w *world) {
			w.scripted(func(rw dns.ResponseWriter, q *dns.Msg) {
				_ = rw.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeServerFailure))
			})
		}, want: "warn SERVER_FAILS", reason: "SERVFAIL"},
		"one is a resolver": {serve: func(w *world) {
			w.changed(func(_, m *dns.Msg) *dns.Msg {
				m.Authoritative, m.RecursionAvailable = false, true
				return m
			})
		}, want: "warn SERVER_LAME RECURSION_OFFERED"},
		"one offers recursion": {serve: func(w *world) {
			w.changed(func(_, m *dns.Msg) *dns.Msg { m.RecursionAvailable = true; return m })
		}, want: "warn RECURSION_OFFERED"},
		"one refers upwards": {serve: func(w *world) {
			w.scripted(func(rw dns.ResponseWriter, q *dns.Msg) {
				m := new(dns.Msg).SetReply(q)
				m.Ns = append(m.Ns, mustRR(". IN NS a.root-servers.net."))
				_ = rw.WriteMsg(m)
			})
		}, want: "warn SERVER_LAME"},
		"one without EDNS": {serve: func(w *world) {
			w.changed(func(q, m *dns.Msg) *dns.Msg {
				if q.IsEdns0() != nil {
					return new(dns.Msg).SetRcode(q, dns.RcodeFormatError)
				}
				return m
			})
		}, want: "warn EDNS_FAILS"},
		"one drops EDNS": {serve: func(w *world) {
			w.changed(func(q, m *dns.Msg) *dns.Msg {
				if q.IsEdns0() != nil {
					return nil
				}
				return m
			})
		}, want: "warn TCP_FAILS EDNS_FAILS"},
		"one ignores EDNS": {serve: func(w *world) {
			w.changed(func(_, m *dns.Msg) *dns.Msg { m.Extra = nil; return m })
		}, want: "warn EDNS_FAILS"},
		"no answer for the name": {serve: func(w *world) {
			for _, at := range []string{oneV4, twoV4} {
				server := w.ZoneServer([]string{at}, healthy())
				server.HandleAll(func(to dns.ResponseWriter, q *dns.Msg) {
					if q.Question[0].Name == "example.com." {
						_ = to.WriteMsg(server.Answer(q))
					}
				})
			}
		}, input: "www.example.com", want: "fail NAME_NOT_ANSWERED"},
		"one drops unknown options": {serve: func(w *world) {
			w.changed(func(q, m *dns.Msg) *dns.Msg {
				if opt := q.IsEdns0(); opt != nil && len(opt.Option) > 0 {
					return nil
				}
				return m
			})
		}, want: "warn EDNS_OPTION_FAILS"},
		"one echoes unknown options": {serve: func(w *world) {
			w.changed(func(q, m *dns.Msg) *dns.Msg {
				m.IsEdns0().Option = q.IsEdns0().Option
				return m
			})
		}, want: "warn EDNS_OPTION_FAILS"},
		"one without TCP": {serve: func(w *world) {
			w.ZoneServer([]string{oneV4}, healthy())
			s := w.ZoneServer([]string{twoV4}, healthy())
			s.HandleAll(func(rw dns.ResponseWriter, q *dns.Msg) {
				if rw.LocalAddr().Network() == "udp" {
					_ = rw.WriteMsg(s.Answer(q))
				}
			})
		}, want: "warn TCP_FAILS"},
		"other serials": {serve: func(w *world) {
			w.ZoneServer([]string{oneV4}, healthy())
			w.ZoneServer([]string{twoV4}, strings.Replace(healthy(), "2026112601", "2026112500", 1))
		}, want: "warn SERIALS_DIFFER", reason: "2026112500"},
		"other NS records in the zone": {serve: func(w *world) {
			w.both(zoneText("example.com", []string{"ns1"}, "ns1 IN A "+oneV4, "ns2 IN A "+twoV4, "@ IN A 93.184.216.34"))
		}, want: "warn NS_SETS_DIFFER", reason: "only at the parent ns2.example.com"},
		"one more in the zone": {serve: func(w *world) {
			w.both(healthy("@ IN NS ns3", "ns3 IN A 93.184.218.3"))
			w.ZoneServer([]string{"93.184.218.3"}, healthy("@ IN NS ns3", "ns3 IN A 93.184.218.3"))
		}, want: "warn NS_SETS_DIFFER", reason: "only in the zone ns3.example.com"},
		"servers with other NS records": {serve: func(w *world) {
			w.ZoneServer([]string{oneV4}, healthy())
			w.ZoneServer([]string{twoV4}, strings.Replace(healthy(), "@ IN NS ns2\n", "", 1))
		}, want: "warn NS_SETS_OF_SERVERS_DIFFER"},
		"one server": {com: []string{"example.com. IN NS ns1.example.com.", "ns1.example.com. IN A " + oneV4}, serve: func(w *world) {
			w.ZoneServer([]string{oneV4}, zoneText("example.com", []string{"ns1"}, "ns1 IN A "+oneV4, "@ IN A 93.184.216.34"))
		}, want: "warn SINGLE_SERVER"},
		"one network": {com: append(without(twoServers, "ns2"), "ns2.example.com. IN A 93.184.216.2"), serve: func(w *world) {
			zone := strings.Replace(healthy(), twoV4, "93.184.216.2", 1)
			w.ZoneServer([]string{oneV4, "93.184.216.2"}, zone)
		}, want: "ok SERVERS_IN_ONE_NETWORK", reason: "93.184.216.0/24"},
		"glue is missing": {com: without(twoServers, "ns2"), serve: func(w *world) { w.both(healthy()) }, want: "warn GLUE_MISSING"},
		"all glue is missing": {com: twoServers[:2], serve: func(w *world) { w.both(healthy()) },
			want: "fail NO_SERVER_ADDRESS GLUE_MISSING GLUE_MISSING"},
		"glue is wrong": {com: append(without(twoServers, "ns2"), "ns2.example.com. IN A 93.184.218.9"), serve: func(w *world) {
			w.both(healthy())
			w.ZoneServer([]string{"93.184.218.9"}, healthy())
		}, want: "warn GLUE_WRONG", reason: "93.184.218.9 in place of " + twoV4},
		"glue is private": {com: append(without(twoServers, "ns2"), "ns2.example.com. IN A 10.0.0.2"), serve: func(w *world) {
			w.both(strings.Replace(healthy(), twoV4, "10.0.0.2", 1))
		}, want: "warn SERVER_ADDRESS_NOT_PUBLIC", reason: "10.0.0.2"},
		"all glue is private": {com: []string{"example.com. IN NS ns1.example.com.", "ns1.example.com. IN A 127.0.0.1"},
			want: "fail NO_SERVER_ADDRESS SERVER_ADDRESS_NOT_PUBLIC"},
		"a server elsewhere": {com: []string{"example.com. IN NS ns.provider.net.", "example.com. IN NS ns1.example.com.", twoServers[2]},
			serve: func(w *world) {
				zone := zoneText("example.com", []string{"ns1", "ns.provider.net."}, "ns1 IN A "+oneV4, "@ IN A 93.184.216.34")
				w.ZoneServer([]string{oneV4}, zone)
				w.ZoneServer([]string{other}, zone, zoneText("provider.net", []string{"ns"}, "ns IN A "+other))
			}, want: "ok"},
		"a server that is an alias": {com: []string{"example.com. IN NS alias.provider.net.", "example.com. IN NS ns1.example.com.", twoServers[2]},
			serve: func(w *world) {
				zone := zoneText("example.com", []string{"ns1", "alias.provider.net."}, "ns1 IN A "+oneV4, "@ IN A 93.184.216.34")
				w.ZoneServer([]string{oneV4}, zone)
				w.ZoneServer([]string{other}, zoneText("provider.net", []string{"ns"}, "ns IN A "+other, "alias IN CNAME ns"))
			}, want: "warn NS_IS_ALIAS"},
		"a server without address": {com: []string{"example.com. IN NS none.provider.net.", "example.com. IN NS ns1.example.com.", twoServers[2]},
			serve: func(w *world) {
				zone := zoneText("example.com", []string{"ns1", "none.provider.net."}, "ns1 IN A "+oneV4, "@ IN A 93.184.216.34")
				w.ZoneServer([]string{oneV4}, zone)
				w.ZoneServer([]string{other}, zoneText("provider.net", []string{"ns"}, "ns IN A "+other))
			}, want: "warn SERVER_WITHOUT_ADDRESS"},
		"servers that need each other": {com: []string{"example.com. IN NS ns.other.com.", "other.com. IN NS ns.example.com."},
			want: "fail NO_SERVER_ADDRESS"},
		"an alias at the apex": {serve: func(w *world) {
			for _, at := range []string{oneV4, twoV4} {
				w.NameServer(at + ":53").HandleAll(func(rw dns.ResponseWriter, q *dns.Msg) {
					m := new(dns.Msg).SetReply(q)
					m.Authoritative, m.Answer = true, []dns.RR{mustRR("example.com. IN CNAME www.provider.net.")}
					_ = rw.WriteMsg(m)
				})
			}
		}, want: "warn CNAME_AT_APEX"},
		"an alias": {serve: func(w *world) { w.both(healthy("a IN CNAME www")) }, input: "a.example.com", want: "ok"},
		"an alias beside data": {serve: func(w *world) { w.both(healthy("a IN CNAME www", "a IN TXT x")) }, input: "a.example.com",
			want: "warn CNAME_BESIDE_DATA", reason: "TXT"},
		"an alias to another zone": {serve: func(w *world) {
			w.both(healthy("a IN CNAME www.provider.net."))
			w.ZoneServer([]string{other}, zoneText("provider.net", []string{"ns"}, "ns IN A "+other, "www IN A 93.184.216.9"))
		}, input: "a.example.com", want: "warn SINGLE_SERVER"},
		"an alias to nothing": {serve: func(w *world) { w.both(healthy("a IN CNAME gone")) }, input: "a.example.com",
			want: "fail ALIAS_TARGET_MISSING", reason: "gone.example.com"},
		"an alias to a domain that is gone": {serve: func(w *world) { w.both(healthy("a IN CNAME www.gone.net.")) }, input: "a.example.com",
			want: "fail ALIAS_TARGET_MISSING", reason: "www.gone.net"},
		"aliases in a loop": {serve: func(w *world) { w.both(healthy("a IN CNAME b", "b IN CNAME a")) }, input: "a.example.com",
			want: "fail ALIAS_LOOP"},
		"an alias inside": {serve: func(w *world) { w.both(healthy("a IN CNAME db.internal.")) }, input: "a.example.com",
			want: "ok ALIAS_NOT_FOLLOWED"},
		"a denial that contradicts": {serve: func(w *world) {
			for _, at := range []string{oneV4, twoV4} {
				s := w.ZoneServer([]string{at}, healthy())
				s.HandleAll(func(rw dns.ResponseWriter, q *dns.Msg) {
					m := s.Answer(q)
					if q.Question[0].Qtype == dns.TypeAAAA && q.Question[0].Name == "www.example.com." {
						m.Rcode = dns.RcodeNameError
					}
					_ = rw.WriteMsg(m)
				})
			}
		}, input: "www.example.com", want: "warn DNS_CONTRADICTS", reason: "AAAA"},
		"an empty name that is denied": {serve: func(w *world) {
			for _, at := range []string{oneV4, twoV4} {
				s := w.ZoneServer([]string{at}, healthy("x.empty IN A 93.184.216.34"))
				s.HandleAll(func(rw dns.ResponseWriter, q *dns.Msg) {
					m := s.Answer(q)
					if q.Question[0].Name == "empty.example.com." {
						m.Rcode = dns.RcodeNameError
					}
					_ = rw.WriteMsg(m)
				})
			}
		}, input: "x.empty.example.com", want: "warn EMPTY_NAME_DENIED", reason: "empty.example.com"},
		"an empty name": {serve: func(w *world) { w.both(healthy("x.empty IN A 93.184.216.34")) }, input: "x.empty.example.com", want: "ok"},
		"a wildcard": {serve: func(w *world) {
			for _, at := range []string{oneV4, twoV4} {
				s := w.ZoneServer([]string{at}, healthy())
				s.HandleAll(func(rw dns.ResponseWriter, q *dns.Msg) {
					m := s.Answer(q)
					if m.Rcode == dns.RcodeNameError && q.Question[0].Qtype == dns.TypeA {
						m.Rcode, m.Ns = dns.RcodeSuccess, nil
						m.Answer = []dns.RR{mustRR(q.Question[0].Name + " IN A 93.184.216.34")}
					}
					_ = rw.WriteMsg(m)
				})
			}
		}, want: "ok WILDCARD"},
		"TTLs": {serve: func(w *world) {
			w.both(healthy("t 59 IN A 1.1.1.1", "t 604801 IN TXT x", "t 60 IN MX 0 .", "t 604800 IN CAA 0 issue \";\""))
		},
			input: "t.example.com", want: "ok TTL_SHORT TTL_LONG"},
		"SOA values": {serve: func(w *world) {
			w.both(strings.Replace(healthy(), "7200 3600 1209600 3600", "1199 1200 604799 86401", 1))
		}, want: "ok SOA_VALUE SOA_VALUE SOA_VALUE SOA_VALUE"},
		"usual SOA values": {serve: func(w *world) {
			w.both(strings.Replace(healthy(), "7200 3600 1209600 3600", "1200 1200 604800 86400", 1))
		}, want: "ok"},
		"a zone below": {serve: func(w *world) {
			w.both(healthy("sub IN NS ns.sub", "sub IN NS ns1", "ns.sub IN A 93.184.219.4"))
			sub := zoneText("sub.example.com", []string{"ns", "ns1.example.com."}, "ns IN A 93.184.219.4", "www IN A 1.1.1.1")
			w.ZoneServer([]string{"93.184.219.4"}, sub)
		}, input: "www.sub.example.com", zones: ". com example.com sub.example.com", want: "warn SERVER_LAME", reason: oneV4},
		"a zone below on the same servers": {serve: func(w *world) {
			sub := zoneText("sub.example.com", []string{"ns1.example.com.", "ns2.example.com."}, "www IN A 1.1.1.1")
			parent := healthy("sub IN NS ns1", "sub IN NS ns2")
			w.ZoneServer([]string{oneV4}, parent, sub)
			w.ZoneServer([]string{twoV4}, parent, sub)
		}, input: "www.sub.example.com", zones: ". com example.com sub.example.com", want: "ok"},
		"a dead zone below": {serve: func(w *world) {
			w.both(healthy("sub IN NS ns.sub", "ns.sub IN A 93.184.219.4"))
			w.NameServer("93.184.219.4:53").HandleAll(silent)
		}, input: "www.sub.example.com", zones: ". com example.com sub.example.com", want: "fail NO_SERVER_ANSWERS"},
		"no route": {serve: func(w *world) {
			w.scripted(silent)
			w.Fail(twoV4+":53", syscall.EHOSTUNREACH)
		}, want: "warn SERVER_SILENT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.com == nil {
				c.com = twoServers
			}
			w := newWorld(t, c.com...)
			if c.serve != nil {
				c.serve(w)
			}
			if c.input == "" {
				c.input = "example.com"
			}
			if c.zones == "" {
				c.zones = ". com example.com"
			}
			r := w.check(t, c.input)
			if got := strings.TrimSpace(r.Delegation + " " + codes(r)); got != c.want || zonesOf(r) != c.zones || !r.Complete {
				t.Errorf("%q, want %q\n%s", got, c.want, show(r))
			}
			if c.reason != "" && (len(r.Findings) == 0 || !strings.Contains(r.Findings[0].Message, c.reason)) {
				t.Errorf("no %q\n%s", c.reason, show(r))
			}
			checkVerdict(t, r)
		})
	}
}

// checkVerdict holds the parts of a result that must agree.
func checkVerdict(t *testing.T, r Result) {
	t.Helper()
	if r.Reason != nil && r.Reason.Code == unmatched {
		r.Reason = nil
	}
	if (r.Reason == nil) != (r.Delegation == delegationOK) || r.Reason != nil && r.Reason.Message != r.Conclusion.Message {
		t.Errorf("%s, %+v, %+v", r.Delegation, r.Reason, r.Conclusion)
	}
	if strings.Contains(show(r), "%!") {
		t.Errorf("a sentence lacks an argument\n%s", show(r))
	}
	for _, f := range r.Findings {
		if f.Zone == nil || strings.Contains(toolstest.Text(f.Remedy), "%!") {
			t.Errorf("%+v", f)
		}
	}
}

func mustRR(line string) dns.RR {
	rr, err := dns.NewRR(line)
	if err != nil {
		panic(err)
	}
	return rr
}
