package rdap

import "strings"

// unpadded takes the zeros before the octets of an IPv4 address away, or of a prefix, and gives anything else as it is.
// Some registries keep addresses in columns of one width: "192.000.002.000". An octet with a zero before it is octal to
// the C library, which is why netip refuses it, but no registry writes octal. A text with a colon is IPv6, where netip
// takes zeros.
func unpadded(s string) string {
	address, length, sliced := strings.Cut(s, "/")
	octets := strings.Split(address, ".")
	if len(octets) != 4 || strings.Contains(address, ":") {
		return s
	}
	for i, octet := range octets {
		if len(octet) > 3 {
			return s
		}
		octets[i] = withoutZeros(octet)
	}
	address = strings.Join(octets, ".")
	if !sliced {
		return address
	}
	return address + "/" + withoutZeros(length)
}

// withoutZeros leaves the last digit where it stands.
func withoutZeros(digits string) string {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	return digits
}
