package egresstest

import "github.com/miekg/dns"

// Reply answers a query with the code and with zone-file lines, for scripts. A line that is none panics.
func Reply(q *dns.Msg, rcode int, answer ...string) *dns.Msg {
	m := new(dns.Msg).SetRcode(q, rcode)
	for _, line := range answer {
		rr, err := dns.NewRR(line)
		if err != nil {
			panic(err)
		}
		m.Answer = append(m.Answer, rr)
	}
	return m
}
