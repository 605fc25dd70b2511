package lab

import (
	"diagnostics/lab/internal/site"
)

// exampleRecords make the names that the pages offer domains of their own, with mail in order.
func exampleRecords() (lines []string) {
	for _, name := range site.Examples {
		lines = append(append(lines, soa(name+".")), hostNS(name)...)
		lines = append(lines, mailRecords(name, nil)...)
	}
	return append(lines, "www.example.com. 300 IN CNAME example.com.")
}
