package lab

import (
	"fmt"
	"strconv"
	"strings"

	"diagnostics/lab/internal/zone"
)

// Names whose answers are as large as an answer may be, so that they come over TCP, and whose text is larger still when
// it is written as JSON. Every name below one of them is an alias of it: an answer of its own for each query.
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
	lines = append(lines, worstValues(unprintable)...)
	for _, name := range []string{HeavyName, WorstName} {
		t.Derive(name, func(string) []string { return []string{"@ 300 IN CNAME " + name + "."} })
	}
	return t.Add(lines...)
}

// worstValues are the types that dns-lookup queries by name, at WorstName.
func worstValues(name string) (lines []string) {
	escapes, hex := strings.Repeat(`\001`, 255), strings.Repeat("ff", 1000)
	var params strings.Builder
	for i := range 500 {
		fmt.Fprintf(&params, " key%d", 1000+i)
	}
	for _, filling := range []struct {
		qtype string
		size  int
		data  func(i int) string
	}{
		{"PTR", 18, func(i int) string { return label(i) + "." + name }},
		{"CAA", 276, func(i int) string { return fmt.Sprintf(`%d issue "%s"`, i, escapes) }},
		{"SRV", 280, func(i int) string { return fmt.Sprintf("%d 0 0 %s.%s", i, label(i), name) }},
		{"HTTPS", 1080, func(i int) string {
			return fmt.Sprintf(`%d . key65280="%s"`, i+1, strings.Repeat(escapes, 4))
		}},
		{"SVCB", 2020, func(i int) string { return fmt.Sprintf("%d .%s", i+1, params.String()) }},
		{"DS", 1020, func(i int) string { return fmt.Sprintf("%d 8 2 %s", i, hex) }},
		{"DNSKEY", 1020, func(i int) string { return fmt.Sprintf("%d 3 8 %s", i, strings.Repeat("AAAA", 333)) }},
		{"TLSA", 1020, func(i int) string { return fmt.Sprintf("%d 1 1 %s", i, hex) }},
		{"NAPTR", 820, func(i int) string {
			return fmt.Sprintf(`%d 0 "" "%s" "%s" %s.%s`, i, escapes, escapes, label(i), name)
		}},
		{"SSHFP", 1020, func(i int) string { return fmt.Sprintf("%d 2 %s", i, hex) }},
		{"URI", 276, func(i int) string { return fmt.Sprintf(`%d 0 "%s"`, i, escapes) }},
		{"LOC", 28, func(i int) string { return fmt.Sprintf("%d %d 0 N 0 0 0 E 0m", i%90, i%60) }},
		{"HINFO", 530, func(i int) string { return fmt.Sprintf(`"%s%s" "%s"`, label(i), escapes[12:], escapes) }},
	} {
		lines = append(lines, filled(WorstName, filling.qtype, filling.size, filling.data)...)
	}
	return lines
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
