package netpolicy

// ASNVerdict is whether an AS number can be that of a network on the internet and, if not, why.
type ASNVerdict struct {
	Public bool
	// First and Last bound the special-purpose range that holds the number; both 0 and Name empty where none does.
	First, Last uint32
	Name        string
	// Source is the document behind the row, such as "RFC 6996".
	Source string
	// Reason completes the sentence "AS<n> is …", such as "a private AS number". Empty where Public.
	Reason string
}

type asnRow struct {
	first, last  uint32
	name, source string
	public       bool
	kind         string
}

// asnRows are the IANA Special-Purpose AS Numbers registry (RFC 7249), and the range that the AS Numbers registry
// reserves.
var asnRows = []asnRow{
	{0, 0, "Reserved", "RFC 7607", false, "a reserved AS number"},
	{112, 112, "Used by the AS112 project to sink misdirected DNS queries", "RFC 7534", true, ""},
	{23456, 23456, "AS_TRANS", "RFC 6793", false, "the placeholder for 32-bit AS numbers"},
	{64496, 64511, "Documentation and sample code", "RFC 5398", false, "a documentation AS number"},
	{64512, 65534, "Private Use", "RFC 6996", false, "a private AS number"},
	{65535, 65535, "Reserved", "RFC 7300", false, "a reserved AS number"},
	{65536, 65551, "Documentation and sample code", "RFC 5398", false, "a documentation AS number"},
	{65552, 131071, "Reserved by IANA", "RFC 5398", false, "a reserved AS number"},
	{4200000000, 4294967294, "Private Use", "RFC 6996", false, "a private AS number"},
	{4294967295, 4294967295, "Reserved", "RFC 7300", false, "a reserved AS number"},
}

// JudgeASN decides whether an AS number can be assigned to a network.
func JudgeASN(n uint32) ASNVerdict { return judgeASN(asnRows, n) }

func judgeASN(rows []asnRow, n uint32) ASNVerdict {
	for i := range rows {
		if r := &rows[i]; n >= r.first && n <= r.last {
			return ASNVerdict{Public: r.public, First: r.first, Last: r.last, Name: r.name, Source: r.source, Reason: r.kind}
		}
	}
	return ASNVerdict{Public: true}
}
