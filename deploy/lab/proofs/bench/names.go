package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"github.com/miekg/dns"
)

// loadZone is the domain of all names that the load is about. Every name below it exists.
const loadZone = "load.lab-site.com"

// targetAddresses is how many addresses the names share. The last of them is the near host's own.
const targetAddresses = 200

// records are what every name has, as rich as those of a small company.
var records = []string{
	"%s 300 IN MX 10 mx1." + loadZone + ".",
	"%s 300 IN MX 20 mx2." + loadZone + ".",
	`%s 300 IN TXT "v=spf1 mx -all"`,
	"%s 300 IN NS ns1." + loadZone + ".",
	"%s 300 IN NS ns2." + loadZone + ".",
	"%s 300 IN SOA ns1." + loadZone + ". hostmaster." + loadZone + ". 2026110100 7200 3600 1209600 300",
}

// answers are the records of each type as they go on the wire behind a question.
type answers struct {
	records  map[uint16][]byte
	counts   map[uint16]uint16
	negative []byte // the zone's SOA, for a type that a name does not have
}

func packAnswers() (*answers, error) {
	a := &answers{records: map[uint16][]byte{}, counts: map[uint16]uint16{}}
	for _, line := range records {
		rr, err := dns.NewRR(fmt.Sprintf(line, "."))
		if err != nil {
			return nil, err
		}
		wire, err := pack(rr)
		if err != nil {
			return nil, err
		}
		// The owner is the question's name: a pointer to it in place of the root.
		qtype := rr.Header().Rrtype
		a.records[qtype] = append(append(a.records[qtype], 0xC0, 12), wire[1:]...)
		a.counts[qtype]++
	}
	soa, err := dns.NewRR(fmt.Sprintf(records[len(records)-1], loadZone+"."))
	if err != nil {
		return nil, err
	}
	a.negative, err = pack(soa)
	return a, err
}

func pack(rr dns.RR) ([]byte, error) {
	wire := make([]byte, 512)
	n, err := dns.PackRR(rr, wire, 0, nil, false)
	return wire[:n], err
}

var errQuestion = errors.New("no question")

// headerSize is that of a message of the DNS (RFC 1035 section 4.1.1).
const headerSize = 12

// answer appends the answer to a query, nothing of it but the question repeated. A name has one address of IPv4, by
// its first label.
func (a *answers) answer(query, into []byte) ([]byte, error) {
	at, first := headerSize, 0
	for at < len(query) && query[at] != 0 {
		if at == headerSize {
			for _, c := range query[at+1 : min(at+1+int(query[at]), len(query))] {
				first = first*31 + int(c)
			}
		}
		at += 1 + int(query[at])
	}
	at += 5
	if at > len(query) {
		return nil, errQuestion
	}
	qtype := binary.BigEndian.Uint16(query[at-4:])
	into = append(into, query[0], query[1], 0x85, 0x80, 0, 1, 0, 0, 0, 0, 0, 0)
	into = append(into, query[headerSize:at]...)
	switch found := a.records[qtype]; {
	case qtype == dns.TypeA:
		into[7] = 1
		into = append(into, 0xC0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4)
		into = append(into, targetAddress(first)...)
	case found != nil:
		into[7] = byte(a.counts[qtype])
		into = append(into, found...)
	default:
		into[9] = 1
		into = append(into, a.negative...)
	}
	return into, nil
}

// targetAddress is one of the near host's addresses.
func targetAddress(n int) net.IP {
	return net.IPv4(11, 94, 0, byte(1+(n&0xffff)%targetAddresses)).To4()
}

// serveNames answers every name over UDP.
func serveNames(address string) error {
	at, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return err
	}
	c, err := net.ListenUDP("udp", at)
	if err != nil {
		return err
	}
	known, err := packAnswers()
	if err != nil {
		return err
	}
	query, answer := make([]byte, 1500), make([]byte, 0, 1500)
	for {
		n, from, err := c.ReadFromUDPAddrPort(query)
		if err != nil {
			return err
		}
		if out, err := known.answer(query[:n], answer); err == nil {
			_, _ = c.WriteToUDPAddrPort(out, from)
		}
	}
}
