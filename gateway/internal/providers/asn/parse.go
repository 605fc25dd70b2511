package asn

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Bounds on what an answer can make us keep and show. The service's own answers are far below them.
const (
	maxTexts     = 64
	maxTextBytes = 4096
	maxOrigins   = 64
	maxPeers     = 1024
	maxName      = 256
)

// unknownCountry is a user-assigned code of ISO 3166 that the data of the registries has for none.
const unknownCountry = "ZZ"

func checkSize(texts []string) error {
	if len(texts) > maxTexts {
		return fmt.Errorf("%w: too many records", ErrUnreadable)
	}
	if slices.ContainsFunc(texts, func(text string) bool { return len(text) > maxTextBytes }) {
		return fmt.Errorf("%w: a record is too long", ErrUnreadable)
	}
	return nil
}

// readOrigins reads the texts at an address's name, such as "23028 | 216.90.108.0/24 | US | arin | 1998-09-25". The
// first field holds every network that originates the prefix, and every prefix that covers the address has a text.
func readOrigins(texts []string, addr netip.Addr) ([]Record, error) {
	announcements, err := readAnnouncements(texts, addr)
	if err != nil {
		return nil, err
	}
	var records []Record
	for _, a := range announcements {
		for _, number := range a.numbers {
			record := a.prefix
			record.ASN = number
			records = append(records, record)
		}
	}
	if len(records) > maxOrigins {
		return nil, fmt.Errorf("%w: too many origins", ErrUnreadable)
	}
	slices.SortFunc(records, compareRecords)
	return slices.CompactFunc(records, func(a, b Record) bool { return a.ASN == b.ASN && a.Prefix == b.Prefix }), nil
}

// readPeers reads the same texts with neighbours in the first field.
func readPeers(texts []string, addr netip.Addr) ([]uint32, error) {
	announcements, err := readAnnouncements(texts, addr)
	if err != nil {
		return nil, err
	}
	var peers []uint32
	for _, a := range announcements {
		peers = append(peers, a.numbers...)
	}
	if len(peers) > maxPeers {
		return nil, fmt.Errorf("%w: too many peers", ErrUnreadable)
	}
	slices.Sort(peers)
	return slices.Compact(peers), nil
}

// announcement is one text: a prefix, as a Record without a number, and the numbers beside it.
type announcement struct {
	numbers []uint32
	prefix  Record
}

func readAnnouncements(texts []string, addr netip.Addr) ([]announcement, error) {
	if err := checkSize(texts); err != nil {
		return nil, err
	}
	announcements := make([]announcement, 0, len(texts))
	for _, text := range texts {
		a, err := readAnnouncement(text)
		if err != nil {
			return nil, err
		}
		if !a.prefix.Prefix.Contains(addr) {
			return nil, fmt.Errorf("%w: a prefix does not hold the address", ErrUnreadable)
		}
		announcements = append(announcements, a)
	}
	return announcements, nil
}

func readAnnouncement(text string) (announcement, error) {
	fields := splitFields(text, -1)
	if len(fields) != 5 {
		return announcement{}, fmt.Errorf("%w: not five fields", ErrUnreadable)
	}
	prefix, err := netip.ParsePrefix(fields[1])
	if err != nil {
		return announcement{}, fmt.Errorf("%w: no prefix", ErrUnreadable)
	}
	numbers, err := readNumbers(fields[0])
	if err != nil {
		return announcement{}, err
	}
	return announcement{numbers: numbers, prefix: Record{
		Prefix: prefix.Masked(), Country: readCountry(fields[2]), Registry: readRegistry(fields[3]),
		Allocated: readDate(fields[4]),
	}}, nil
}

// readSystem reads the texts at a number's name, such as "23028 | US | arin | 2002-01-04 | TEAM-CYMRU - Team Cymru
// Inc., US". The description is the rest of the text: it may hold vertical bars. Of several texts the first in their
// own order counts, since resolvers rotate them.
func readSystem(texts []string, number uint32) (*System, error) {
	if err := checkSize(texts); err != nil {
		return nil, err
	}
	var found *System
	for _, text := range slices.Sorted(slices.Values(texts)) {
		fields := splitFields(text, 5)
		if len(fields) != 5 {
			return nil, fmt.Errorf("%w: not five fields", ErrUnreadable)
		}
		got, err := readNumber(fields[0])
		if err != nil || got != number {
			return nil, fmt.Errorf("%w: not the AS number that was asked for", ErrUnreadable)
		}
		if found == nil {
			found = &System{
				ASN: got, Country: readCountry(fields[1]), Registry: readRegistry(fields[2]), Allocated: readDate(fields[3]),
				Name: readName(fields[4]),
			}
		}
	}
	return found, nil
}

// splitFields cuts a text at its vertical bars into at most n fields, all of them where n is negative.
func splitFields(text string, n int) []string {
	fields := strings.SplitN(text, "|", n)
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields
}

// readNumbers reads AS numbers with spaces between them, or in an AS_SET as routers write it: {701,1239}.
func readNumbers(field string) ([]uint32, error) {
	words := strings.FieldsFunc(field, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("{},", r) })
	if len(words) == 0 {
		return nil, fmt.Errorf("%w: no AS number", ErrUnreadable)
	}
	numbers := make([]uint32, 0, len(words))
	for _, word := range words {
		number, err := readNumber(word)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}

func readNumber(word string) (uint32, error) {
	number, err := strconv.ParseUint(word, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%w: no AS number", ErrUnreadable)
	}
	return uint32(number), nil
}

// readCountry, readRegistry and readDate take what is not in their form as not given: they are beside the point of an
// answer, and often empty.
func readCountry(field string) string {
	country := strings.ToUpper(field)
	if len(country) != 2 || !only(country, 'A', 'Z') || country == unknownCountry {
		return ""
	}
	return country
}

func readRegistry(field string) string {
	registry := strings.ToLower(field)
	if len(registry) > 16 || !only(registry, 'a', 'z') {
		return ""
	}
	return registry
}

func readDate(field string) string {
	if _, err := time.Parse(time.DateOnly, field); err != nil {
		return ""
	}
	return field
}

func only(s string, first, last rune) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < first || r > last })
}

// readName makes a stranger's text fit to be shown: one line of printing characters.
func readName(field string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, field)
	runes := []rune(strings.TrimSpace(name))
	return strings.TrimSpace(string(runes[:min(len(runes), maxName)]))
}

// compareRecords orders by the length of the prefix, longest first, then by prefix and number.
func compareRecords(a, b Record) int {
	return cmp.Or(cmp.Compare(b.Prefix.Bits(), a.Prefix.Bits()), a.Prefix.Addr().Compare(b.Prefix.Addr()),
		cmp.Compare(a.ASN, b.ASN))
}
