package lab

import (
	"fmt"
	"strconv"
	"strings"

	"diagnostics/lab/internal/zone"
)

// Names whose answers are as large as an answer may be, so that they come over TCP, and whose text is larger still when
// it is written as JSON. Every name below one of them is an alias of it: an answer of its own for whoever asks.
const (
	HeavyName = "heavy." + DNSZone // five types with as much as an answer shows of them, and little more
	WorstName = "worst." + DNSZone // every type of dns-lookup filled up, in bytes that JSON escapes
)

// mostWire is just under what one DNS message may hold.
const mostWire = 64_000

// publishHeavy adds both names. Names are compressed on the wire, so that many long ones fit into one answer.
func publishHeavy(t *zone.Table) error {
	long := strings.Repeat(strings.Repeat("x", 62)+".", 3) + strings.Repeat("y", 40) + "." + DNSZone + "."
	unprintable := strings.Repeat(strings.Repeat(`\001`, 62)+".", 3) + strings.Repeat(`\002`, 40) + "." + DNSZone + "."
	// Each takes a sixth of a message, or makes 100 KB of JSON.
	lines := filled(HeavyName, "NS", 6*18, func(i int) string { return label(i) + "." + long })
	lines = append(lines, filled(HeavyName, "MX", 6*20, func(i int) string { return "10 " + label(i) + "." + long })...)
	lines = append(lines, filled(HeavyName, "TXT", 268, func(i int) string {
		return `"` + label(i) + strings.Repeat("<", 252) + `"`
	})...)
	lines = append(lines, filled(HeavyName, "A", 16, func(i int) string {
		return fmt.Sprintf("11.%d.%d.1", 100+i/256, i%256)
	})...)
	lines = append(lines, filled(HeavyName, "AAAA", 28, func(i int) string { return fmt.Sprintf("2a10:80:%x::1", i) })...)
	lines = append(lines, filled(WorstName, "NS", 18, func(i int) string { return label(i) + "." + unprintable })...)
	lines = append(lines, filled(WorstName, "MX", 20, func(i int) string {
		return "10 " + label(i) + "." + unprintable
	})...)
	lines = append(lines, filled(WorstName, "A", 16, func(i int) string {
		return fmt.Sprintf("11.%d.%d.1", 100+i/256, i%256)
	})...)
	lines = append(lines, filled(WorstName, "AAAA", 28, func(i int) string { return fmt.Sprintf("2a10:80:%x::1", i) })...)
	lines = append(lines, filled(WorstName, "TXT", 268, func(i int) string {
		return `"` + label(i) + strings.Repeat(`\001`, 252) + `"`
	})...)
	for _, name := range []string{HeavyName, WorstName} {
		t.Derive(name, func(string) []string { return []string{"@ 300 IN CNAME " + name + "."} })
	}
	return t.Add(lines...)
}

// filled are as many records of a type as one message holds, where each takes size bytes.
func filled(name, qtype string, size int, data func(i int) string) (lines []string) {
	for i := range mostWire / size {
		lines = append(lines, fmt.Sprintf("%s. 300 IN %s %s", name, qtype, data(i)))
	}
	return lines
}

// label is a number in three characters.
func label(i int) string {
	text := strconv.FormatInt(int64(i), 36)
	return strings.Repeat("0", 3-len(text)) + text
}
