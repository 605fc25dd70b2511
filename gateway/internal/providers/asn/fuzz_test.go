package asn

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func texts(joined string) []string { return strings.Split(joined, "\n") }

func FuzzReadOrigins(f *testing.F) {
	f.Add("23028 | 216.90.108.0/24 | US | arin | 1998-09-25")
	f.Add("701 1239 | 216.90.0.0/16 | US | arin | \n{1,2} | 0.0.0.0/0 | eu | RIPENCC | 1998-02-30")
	f.Add("NA | NA | NA | other | \n||||")
	f.Add("4294967296 | 216.90.108.0/24%eth0 | \xff | | ")
	addr := netip.MustParseAddr("216.90.108.31")
	f.Fuzz(func(t *testing.T, joined string) {
		records, err := readOrigins(texts(joined), addr)
		peers, peerErr := readPeers(texts(joined), addr)
		if err != nil {
			if !errors.Is(err, ErrUnreadable) || records != nil {
				t.Fatalf("%v, %v", records, err)
			}
			return
		}
		if len(records) > maxOrigins || !slices.IsSortedFunc(records, compareRecords) {
			t.Errorf("records %v", records)
		}
		for _, r := range records {
			if !r.Prefix.IsValid() || r.Prefix != r.Prefix.Masked() || !r.Prefix.Contains(addr) {
				t.Errorf("prefix %v", r.Prefix)
			}
			if len(r.Country) != 0 && len(r.Country) != 2 || !only(r.Country, 'A', 'Z') || !only(r.Registry, 'a', 'z') ||
				len(r.Registry) > 16 || len(r.Allocated) != 0 && len(r.Allocated) != 10 {
				t.Errorf("record %+v", r)
			}
		}
		if peerErr != nil || !slices.IsSorted(peers) || len(peers) > len(records) && len(records) == 0 {
			t.Errorf("peers %v, %v", peers, peerErr)
		}
	})
}

func FuzzReadSystem(f *testing.F) {
	f.Add("23028 | US | arin | 2002-01-04 | TEAM-CYMRU - Team Cymru Inc., US")
	f.Add("23028 | BR | lacnic | | A | B | C\n23028||||\u202e\x00")
	f.Add("<html>")
	f.Fuzz(func(t *testing.T, joined string) {
		system, err := readSystem(texts(joined), 23028)
		if err != nil {
			if !errors.Is(err, ErrUnreadable) || system != nil {
				t.Fatalf("%v, %v", system, err)
			}
			return
		}
		if system == nil || system.ASN != 23028 {
			t.Fatalf("%+v", system)
		}
		name := system.Name
		if utf8.RuneCountInString(name) > maxName || !utf8.ValidString(name) || strings.TrimSpace(name) != name ||
			strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("name %q", name)
		}
	})
}
