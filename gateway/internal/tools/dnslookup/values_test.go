package dnslookup

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/text/bound"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// lookUpAll gives the records of one name as JSON, by type.
func lookUpAll(t *testing.T, lines ...string) map[string]json.RawMessage {
	t.Helper()
	n := egresstest.New(t)
	for _, line := range lines {
		n.Records("example.com. 300 IN " + line)
	}
	got, err := run(t.Context(), n.Client(nil), "example.com", allTypes[:])
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(got.Records)
	if err != nil {
		t.Fatal(err)
	}
	var records map[string]json.RawMessage
	if err := json.Unmarshal(raw, &records); err != nil {
		t.Fatal(err)
	}
	return records
}

// TestValues holds the shape of every type's values, and the order that they are reported in.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  string
		lines []string
		want  string
	}{
		{"CAA", []string{`128 iodef "mailto:\233t\233@example.com"`, `0 issue "ca.example.net; account=1"`, `0 issue ";"`},
			`[{"text":"0 issue \";\"","flags":0,"tag":"issue","value":";"},` +
				`{"text":"0 issue \"ca.example.net; account=1\"","flags":0,"tag":"issue","value":"ca.example.net; account=1"},` +
				`{"text":"128 iodef \"mailto:\\233t\\233@example.com\"","flags":128,"tag":"iodef","value":"mailto:été@example.com"}]`},
		{"SRV", []string{"10 5 5060 a.example.com.", "5 0 443 b.example.com.", "0 0 0 ."},
			`[{"text":"0 0 0 .","priority":0,"weight":0,"port":0,"target":""},` +
				`{"text":"5 0 443 b.example.com","priority":5,"weight":0,"port":443,"target":"b.example.com"},` +
				`{"text":"10 5 5060 a.example.com","priority":10,"weight":5,"port":5060,"target":"a.example.com"}]`},
		{"HTTPS", []string{`2 b.example.com. alpn=h2`, `1 . alpn="h3,h2" port=8443 key65280="a\001"`},
			`[{"text":"1 . alpn=\"h3,h2\" port=8443 key65280=\"a\\001\"","priority":1,"target":"","params":{"alpn":"h3,h2","key65280":"a\\001","port":"8443"}},` +
				`{"text":"2 b.example.com alpn=\"h2\"","priority":2,"target":"b.example.com","params":{"alpn":"h2"}}]`},
		{"SVCB", []string{`0 pool.example.com.`}, `[{"text":"0 pool.example.com","priority":0,"target":"pool.example.com","params":{}}]`},
		{"DS", []string{"20326 8 2 E06D44B8"},
			`[{"text":"20326 8 2 e06d44b8","keyTag":20326,"algorithm":8,"digestType":2,"digest":"e06d44b8"}]`},
		{"DNSKEY", []string{"257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ=="},
			`[{"text":"257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==","flags":257,"protocol":3,"algorithm":13,` +
				`"publicKey":"mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==","keyTag":2371}]`},
		{"TLSA", []string{"3 1 1 0C72AC"}, `[{"text":"3 1 1 0c72ac","usage":3,"selector":1,"matching":1,"data":"0c72ac"}]`},
		{"NAPTR", []string{`100 20 "s" "SIP+D2U" "" _sip._udp.example.com.`, `100 10 "u" "E2U+sip" "!^\\+(.*)$!sip:\\1@x.com!" .`},
			`[{"text":"100 10 \"u\" \"E2U+sip\" \"!^\\\\+(.*)$!sip:\\\\1@x.com!\" .","order":100,"preference":10,"flags":"u","service":"E2U+sip","regexp":"!^\\+(.*)$!sip:\\1@x.com!","replacement":""},` +
				`{"text":"100 20 \"s\" \"SIP+D2U\" \"\" _sip._udp.example.com","order":100,"preference":20,"flags":"s","service":"SIP+D2U","regexp":"","replacement":"_sip._udp.example.com"}]`},
		{"PTR", []string{"b.example.com.", `a\.b.example.com.`}, `["a\\.b.example.com","b.example.com"]`},
		{"SSHFP", []string{"4 2 A87F1B68"}, `[{"text":"4 2 a87f1b68","algorithm":4,"type":2,"fingerprint":"a87f1b68"}]`},
		{"URI", []string{`10 1 "https://example.com/\"x\""`},
			`[{"text":"10 1 \"https://example.com/\\\"x\\\"\"","priority":10,"weight":1,"target":"https://example.com/\"x\""}]`},
		{"LOC", []string{"52 22 23 N 4 53 32 E -2m"}, `[{"text":"52 22 23.000 N 4 53 32.000 E -2.00m 1m 10000m 10m"}]`},
		{"HINFO", []string{`"PC \"x\"" "Linux"`}, `[{"text":"\"PC \\\"x\\\"\" \"Linux\"","cpu":"PC \"x\"","os":"Linux"}]`},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			lines := make([]string, len(c.lines))
			for i, line := range c.lines {
				lines[i] = c.kind + " " + line
			}
			if d := cmp.Diff(c.want, markup.Replace(string(lookUpAll(t, lines...)[c.kind]))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// markup undoes what encoding/json does for HTML.
var markup = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// TestHostmaster: a dot inside the mailbox's label stays apart from those between labels, as in Node's dns module.
func TestHostmaster(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"hostmaster.example.com.":        "hostmaster.example.com",
		`host\.master.example.com.`:      `host\.master.example.com`,
		`a\\b.example.com.`:              `a\\b.example.com`,
		`\195\169t\195\169.example.com.`: `\195\169t\195\169.example.com`,
	} {
		var soa []soaRecord
		raw := lookUpAll(t, "SOA ns1.example.com. "+typed+" 1 2 3 4 5")["SOA"]
		if err := json.Unmarshal(raw, &soa); err != nil || len(soa) != 1 || soa[0].Hostmaster != want {
			t.Errorf("%s: %s, %v", typed, raw, err)
		}
	}
}

// TestBrokenData: data that does not fit its type is a damaged answer of that type, and of no other.
func TestBrokenData(t *testing.T) {
	t.Parallel()
	for name, data := range map[uint16]string{
		dns.TypeCAA:    "0005" + "69", // the tag ends past the record
		dns.TypeSRV:    "000a",
		dns.TypeHTTPS:  "000100" + "0003" + "0001" + "35", // a port of one octet
		dns.TypeSVCB:   "000100" + "ffff" + "0000",
		dns.TypeDS:     "4f",
		dns.TypeDNSKEY: "0101",
		dns.TypeMX:     "000a", // which would be a null MX
		dns.TypeSOA:    "0000" + "00000001",
		dns.TypeTLSA:   "03",
		dns.TypeNAPTR:  "00640032" + "ff",
		dns.TypePTR:    "3f",
		dns.TypeLOC:    "00",
		dns.TypeHINFO:  "03504320",
		dns.TypeURI:    "000a",
		dns.TypeSSHFP:  "04",
	} {
		t.Run(dns.TypeToString[name], func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.HandleRaw("example.com", func(w dns.ResponseWriter, q *dns.Msg) {
				m := new(dns.Msg).SetReply(q)
				// Over UDP what cannot be read is taken for another sender's.
				m.Truncated = q.Question[0].Qtype == name && w.LocalAddr().Network() == "udp"
				if q.Question[0].Qtype == name && !m.Truncated {
					h := dns.RR_Header{Name: q.Question[0].Name, Rrtype: name, Class: dns.ClassINET, Ttl: 300}
					m.Answer = append(m.Answer, &dns.RFC3597{Hdr: h, Rdata: data})
				}
				_ = w.WriteMsg(m)
			})
			got, err := run(t.Context(), n.Client(nil), "example.com", allTypes[:])
			if err != nil {
				t.Fatal(err)
			}
			for _, qtype := range allTypes {
				code := got.Errors[dns.TypeToString[qtype]]
				if qtype == name && code != "EBADRESP" || qtype != name && code != "ENODATA" {
					t.Errorf("%s: %s", dns.TypeToString[qtype], code)
				}
			}
		})
	}
}

// TestShorten: each text of a record keeps to its share, and a record that was cut says so.
func TestShorten(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<", 10_000)
	text := presented{long}
	params := map[string]string{}
	var keys []string
	for i := range 3000 {
		keys = append(keys, dns.SVCBKey(1000+i).String())
		params[keys[i]] = ""
	}
	for name, records := range map[string]list{
		"CAA":        &valueList[caaRecord, *caaRecord]{{presented: text, Value: long}},
		"parameters": &valueList[serviceRecord, *serviceRecord]{{presented: text, Params: params, keys: keys}},
		"a parameter": &valueList[serviceRecord, *serviceRecord]{{presented: text,
			Params: map[string]string{"alpn": long, "port": "1"}, keys: []string{"alpn", "port"}}},
		"DS":     &valueList[dsRecord, *dsRecord]{{presented: text, Digest: long}},
		"DNSKEY": &valueList[dnskeyRecord, *dnskeyRecord]{{presented: text, PublicKey: long}},
		"TLSA":   &valueList[tlsaRecord, *tlsaRecord]{{presented: text, Data: long}},
		"SSHFP":  &valueList[sshfpRecord, *sshfpRecord]{{presented: text, Fingerprint: long}},
		"URI":    &valueList[uriRecord, *uriRecord]{{presented: text, Target: long}},
	} {
		var cut bool
		records.bound(allRecords, nil, &cut)
		if size := bound.Size(records); !cut || size > 2*maxParams+512 || size < maxParams {
			t.Errorf("%s: %d bytes, cut %t", name, size, cut)
		}
	}
	if _, first := params["key1000"]; !first || len(params) == len(keys) {
		t.Errorf("%d parameters are left, the first %t", len(params), first)
	}
	whole, cut := valueList[uriRecord, *uriRecord]{{presented: presented{"x"}, Target: "x"}}, false
	if whole.bound(allRecords, nil, &cut); cut || whole[0].Text != "x" || whole[0].Target != "x" {
		t.Errorf("%+v, cut %t", whole, cut)
	}
}

// FuzzRecords feeds the readers of records arbitrary data of every type: an answer of them is JSON within its bound.
func FuzzRecords(f *testing.F) {
	for i, qtype := range allTypes {
		f.Add(qtype, []byte{0, 1, 0, 0, 1, 0, 3, 2, 'h', '2', byte(i)})
		f.Add(qtype, []byte("\x00\x05issueca.example.net"))
	}
	f.Fuzz(func(t *testing.T, qtype uint16, data []byte) {
		if !slices.Contains(allTypes[:], qtype) || len(data) == 0 || len(data) > 60_000 {
			return
		}
		h := dns.RR_Header{Name: ".", Rrtype: qtype, Class: dns.ClassINET, Rdlength: uint16(len(data))}
		rr, _, err := dns.UnpackRRWithHeader(h, data, 0)
		if err != nil {
			return
		}
		var set recordSet
		var cut bool
		values := set.of(qtype)
		values.open()
		set.add([]dns.RR{rr, dns.Copy(rr)})
		values.sort()
		if size := bound.Size(set); size <= len(`{"":[]}`)+len(dns.TypeToString[qtype]) {
			t.Fatalf("%s of %x is left out", dns.TypeToString[qtype], data)
		}
		values.bound(maxText, &dnsclient.Answer{Records: []dns.RR{rr, rr}}, &cut)
		if size := bound.Size(set); size > maxText+50 {
			t.Fatalf("%s of %x takes %d bytes", dns.TypeToString[qtype], data, size)
		}
	})
}
