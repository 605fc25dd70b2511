package emaildnshealth

import (
	"fmt"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/tlsa"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/miekg/dns"
)

// Which of too many texts is the record cannot be determined, so that none of them is missing.
func TestAnAnswerThatIsCutTellsNothing(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.HandleRaw("example.com", func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		m.Compress = true
		if m.Truncated = w.LocalAddr().Network() == "udp"; !m.Truncated && q.Question[0].Qtype == dns.TypeTXT {
			for i := range 1500 {
				m.Answer = append(m.Answer, &dns.TXT{Hdr: dns.RR_Header{Name: "example.com.", Rrtype: dns.TypeTXT,
					Class: dns.ClassINET, Ttl: 60}, Txt: []string{fmt.Sprintf("t%d", i)}})
			}
		}
		_ = w.WriteMsg(m)
	})
	spf := toolstest.MustRun[Result](t, New(n.Client(nil)), tool.Input{Text: "example.com"}).Checks.SPF
	const tooLong = "the answers are larger than this service reads"
	if spf.Status != mailError || !strings.Contains(spf.Issues[0].Message, tooLong) {
		t.Errorf("status %s, %+v", spf.Status, spf.Issues)
	}
}

// All answers of a run together are bounded too: each is kept until its end.
func TestAnswersOfARunHaveRoomTogether(t *testing.T) {
	t.Parallel()
	var one dnsclient.Answer
	r := newResolver(nil)
	for i := range maxMailBytes / one.Weight() {
		if !r.keeps(one) {
			t.Fatalf("no room for answer %d", i)
		}
	}
	if r.keeps(one) {
		t.Error("there is room without end")
	}
}

// Where that room is used up, the result names long answers, not too many lookups.
func TestAnAnswerWithoutRoomIsLong(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN TXT \"v=spf1 -all\"")
	r := newResolver(n.Client(nil))
	r.room = 0
	_, err := r.TXT(t.Context(), "example.com")
	if failure := mail.Failure(err); failure == nil || failure.Code != mail.CodeLong {
		t.Errorf("%v, want code %s", err, mail.CodeLong)
	}
}

var limits = bound.LimitsOf[Result]()

// A tree of terms that no one could read is cut from its leaves.
func TestTheTreeIsCutFromItsLeaves(t *testing.T) {
	t.Parallel()
	c := newSPFCheck(newCheck(), "example.com")
	long := strings.Repeat("<", 1000)
	for range 3 {
		child := newSPFCheck(newCheck(), "example.com").Tree
		for range 50 {
			child.Children = append(child.Children, newSPFCheck(newCheck(), long).Tree)
		}
		c.Tree.Children = append(c.Tree.Children, child)
	}
	health := Result{Checks: results{SPF: c}}
	boundTree(health.Checks.SPF.Tree)
	limits.Enforce(&health)
	tree := health.Checks.SPF.Tree
	if !health.Truncated || !health.Checks.SPF.Truncated || tree.Truncated || len(tree.Children) != 3 {
		t.Errorf("truncated %t, its root %t with %d children", health.Truncated, tree.Truncated, len(tree.Children))
	}
	if last := tree.Children[2]; !last.Truncated || len(last.Children) == 50 {
		t.Errorf("the last branch: truncated %t, %d children", last.Truncated, len(last.Children))
	}
	if len(health.Checks.SPF.facts) > 0 {
		t.Error("what is cut is no fault of the record")
	}
}

// What is found beside the records is cut too: many keys behind the longest aliases, and as many TLSA records as a
// message holds.
func TestWhatIsFoundBesideIsCut(t *testing.T) {
	t.Parallel()
	alias := strings.Repeat(strings.Repeat(`\001`, 59)+".", 4)
	health := Result{}
	health.Checks.SPF = newSPFCheck(newCheck(), "example.com")
	for _, selector := range commonSelectors {
		found := dkimFind{Selector: selector, CNAME: &alias, KeyType: "rsa"}
		health.Checks.DKIM.Found = append(health.Checks.DKIM.Found, found)
	}
	host := newMXHost("a.example.com", 10)
	for range 1000 {
		host.TLSA = append(host.TLSA, tlsa.Record{Data: strings.Repeat("5a", 64)})
	}
	health.Checks.MX.Hosts = []mxHost{host}
	limits.Enforce(&health)
	mx, dkim := health.Checks.MX, health.Checks.DKIM
	if !health.Truncated || !mx.Truncated || !mx.Hosts[0].Truncated || bound.Size(mx.Hosts[0].TLSA) > 8<<10 {
		t.Errorf("truncated %t, %d records", mx.Truncated, len(mx.Hosts[0].TLSA))
	}
	if size := bound.Size(dkim.Found); !dkim.Truncated || size > 48<<10 || size < 48<<10-2000 {
		t.Errorf("truncated %t, %d bytes of keys", dkim.Truncated, size)
	}
}
