package asnlookup

import (
	"fmt"

	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/tools/internal/registration"
)

// summaryOfNumber says what it means that the service knows a number: it is asked about the register and not about what
// is announced.
func summaryOfNumber(number string, known bool) string {
	if !known {
		return fmt.Sprintf("The ASN service does not know %s: it may not be allocated. Whether any network uses it anyway "+
			"was not checked.", number)
	}
	return fmt.Sprintf("The ASN service knows %s: the number is allocated. Whether it announces anything at present "+
		"was not checked.", number)
}

// summaryOfAddress says who announces an address, and what several origins mean.
func summaryOfAddress(address string, records []asn.Announcement) string {
	if len(records) == 0 {
		return fmt.Sprintf("According to the ASN service, no network announces %s at present.", address)
	}
	if several := registration.SeveralOrigins(records); several != "" {
		return several
	}
	return fmt.Sprintf("%s announces %s, which contains %s.", registration.Numbers(registration.Winners(records)),
		records[0].Prefix, address)
}
