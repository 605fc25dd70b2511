package spf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"diagnostics/shared/ascii"
	"diagnostics/shared/netpolicy"
)

// names are what is known of the macros without a mail at hand.
type names struct {
	// current is the domain of the record that the macro stands in (%{d}).
	current string
	// sender is the domain in whose name the mail is sent (%{o}): that of the first record, in its own mail.
	sender string
}

// expand fills the macros of a domain-spec in (RFC 7208 section 7). known is false where one of them is another for
// each mail: its local part, its HELO name or the address that it comes from. The string must be a valid domain-spec.
func expand(spec string, from names) (name string, known bool) {
	var b strings.Builder
	for i := 0; i < len(spec); i++ {
		if spec[i] != '%' {
			b.WriteByte(spec[i])
			continue
		}
		length, _ := macroLength(spec[i:], false)
		part, ok := expandOne(spec[i:i+length], from)
		if !ok {
			return "", false
		}
		b.WriteString(part)
		i += length - 1
	}
	return shortened(b.String()), true
}

func expandOne(macro string, from names) (string, bool) {
	switch macro {
	case "%%":
		return "%", true
	case "%_":
		return " ", true
	case "%-":
		return "%20", true
	}
	body := macro[len("%{") : len(macro)-1]
	var value string
	switch body[0] | 0x20 {
	case 'd':
		value = from.current
	case 'o':
		value = from.sender
	default:
		return "", false
	}
	value = transform(value, body[1:])
	if body[0] < 'a' {
		value = escapeURL(value)
	}
	return value, true
}

// transform applies digits, "r" and delimiters: the value is split at one or more of the delimiters, turned round, and
// its last parts are kept and joined by dots.
func transform(value, transformers string) string {
	rest := strings.TrimLeft(transformers, "0123456789")
	digits := transformers[:len(transformers)-len(rest)]
	reversed := rest != "" && rest[0]|0x20 == 'r'
	if reversed {
		rest = rest[1:]
	}
	if rest == "" {
		rest = "."
	}
	parts := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(rest, r) })
	if reversed {
		slices.Reverse(parts)
	}
	// Digits too many for a number keep everything.
	if keep, err := strconv.Atoi(digits); err == nil && keep < len(parts) {
		parts = parts[len(parts)-keep:]
	}
	return strings.Join(parts, ".")
}

// escapeURL is what a macro in capitals requests: all but the unreserved characters of RFC 3986.
func escapeURL(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; ascii.IsAlphanumeric(c) || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// shortened removes labels from the left until the name is no longer than a name can be (RFC 7208 section 7.3).
func shortened(name string) string {
	for len(strings.TrimSuffix(name, ".")) > netpolicy.MaxNameOctets {
		_, rest, found := strings.Cut(name, ".")
		if !found {
			return name
		}
		name = rest
	}
	return name
}

// canBeName reports whether a name can be queried in the DNS at all: no label is empty or longer than 63 octets.
func canBeName(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > maxLabel {
			return false
		}
	}
	return len(name) <= netpolicy.MaxNameOctets
}

const maxLabel = 63

// isPublic reports whether a name that can be queried belongs to the public DNS. A domain-spec may have characters
// that no host's name has, and the DNS takes them: where the name ends is what counts.
func isPublic(name string) bool {
	labels := strings.Split(name, ".")
	for i, label := range labels {
		labels[i] = plain(label)
	}
	_, err := netpolicy.ParseName(strings.Join(labels, "."), true)
	return err == nil
}

// plain puts a letter in the place of what a label of a host's name cannot have.
func plain(label string) string {
	clean := []byte(label)
	for i, c := range clean {
		inner := i > 0 && i < len(clean)-1
		if !ascii.IsAlphanumeric(c) && c != '_' && (c != '-' || !inner || strings.HasPrefix(label, "xn--")) {
			clean[i] = 'x'
		}
	}
	return string(clean)
}

// presentation writes a name as questions to the DNS have it, with what has a meaning there behind a backslash (RFC
// 1035 section 5.1).
func presentation(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03d`, c)
		case strings.IndexByte(` '@;()"\`, c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
