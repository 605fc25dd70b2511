package dnsclient

import (
	"encoding/hex"
	"testing"

	"github.com/miekg/dns"
)

// Data that ends between two fields is not taken for data with zeroes in them.
func TestTruncatedRecordDataIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		qtype       uint16
		least, less string // the shortest data that is whole, and what lacks a field of it
	}{
		{dns.TypeMX, "000000", "0000"},
		{dns.TypeSOA, "0000" + "0000000100000002000000030000000400000005", "0000" + "00000001000000020000000300000004"},
		{dns.TypeSRV, "000000000000" + "00", "000000000000"},
		{dns.TypeHTTPS, "0001" + "00", "0001"},
		{dns.TypeSVCB, "0001" + "00", "0001"},
		{dns.TypeCAA, "00" + "00", "00"},
		{dns.TypeDS, "4f660802" + "00", "4f660802"},
		{dns.TypeDNSKEY, "01010308", "0101"},
		{dns.TypeTLSA, "030101" + "00", "030101"},
		{dns.TypeNAPTR, "00640032" + "000000" + "00", "00640032" + "000000"},
		{dns.TypeNAPTR, "00640032" + "0461626364" + "00" + "00" + "00", "00640032" + "0461626364" + "00"},
		{dns.TypeSSHFP, "0402" + "00", "0402"},
		{dns.TypeURI, "000a0001", "000a"},
		{dns.TypeLOC, "00121613800000008000000000989680", "001216138000000080000000"},
		{dns.TypeHINFO, "0000", "00"},
		{dns.TypeHINFO, "025043" + "00", "025043"},
		{dns.TypeHINFO, "02505c" + "015c", "02505c"},
		{dns.TypePTR, "00", ""},
		{dns.TypeTXT, "00", ""},
	} {
		for data, want := range map[string]bool{c.least: true, c.less: false} {
			raw, err := hex.DecodeString(data)
			if err != nil {
				t.Fatal(err)
			}
			h := dns.RR_Header{Name: ".", Rrtype: c.qtype, Class: dns.ClassINET, Rdlength: uint16(len(raw))}
			rr, _, err := dns.UnpackRRWithHeader(h, raw, 0)
			if err != nil {
				t.Errorf("%s %s: %v", dns.TypeToString[c.qtype], data, err)
				continue
			}
			if got := !isCutShort(rr) && usable(rr); got != want {
				t.Errorf("%s %q: whole %t, want %t: %v", dns.TypeToString[c.qtype], data, got, want, rr)
			}
		}
	}
}
