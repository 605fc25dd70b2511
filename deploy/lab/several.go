package lab

import (
	"fmt"

	"diagnostics/lab/internal/site"
)

// severalRecords are names with several addresses of one family: one of three is dead, or there are more than a tool
// tries.
func severalRecords(sites []site.Site) (lines []string) {
	at := make(map[string]site.Site)
	for _, s := range sites {
		at[s.Host] = s
	}
	fast, redirects := at["fast."+SiteZone], at["redirects."+SiteZone]
	dead4, _ := SilentEnd(22)
	for _, v4 := range []any{fast.V4, dead4, redirects.V4} {
		lines = append(lines, fmt.Sprintf("onedead.%s. 300 IN A %s", SiteZone, v4))
	}
	for _, label := range []string{"fast", "redirects", "rich", "edges"} {
		lines = append(lines, fmt.Sprintf("crowd.%s. 300 IN A %s", SiteZone, at[label+"."+SiteZone].V4))
	}
	return append(lines, fmt.Sprintf("crowd.%s. 300 IN AAAA %s", SiteZone, fast.V6))
}
