package robotssitemap

import "diagnostics/gateway/internal/robotstxt"

// crawler is one that is widely known, and what the site says to it.
type crawler struct {
	Name   string           `json:"name"`
	Effect robotstxt.Effect `json:"effect"`
}

func describeCrawlers(crawlers []robotstxt.Crawler) []crawler {
	list := make([]crawler, 0, len(crawlers))
	for _, c := range crawlers {
		list = append(list, crawler{Name: c.Name, Effect: c.Effect})
	}
	return list
}
