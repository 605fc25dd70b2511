package robotstxt

import "strings"

// Crawler is one that is widely known, and what a site says to it.
type Crawler struct {
	Name   string // its product token
	Effect Effect
}

// crawlers are those that owners of sites ask about, search engines first. follows is whose group a crawler takes
// where none names itself, as its makers say: Applebot Googlebot's, YandexBot the one for all robots of Yandex.
var crawlers = []struct{ name, follows string }{
	{name: "Googlebot"},
	{name: "Bingbot"},
	{name: "Applebot", follows: "Googlebot"},
	{name: "DuckDuckBot"},
	{name: "YandexBot", follows: "Yandex"},
	{name: "GPTBot"},
	{name: "ClaudeBot"},
	{name: "CCBot"},
}

// Crawlers is what the file says to each of the known crawlers, always in the same order.
func (f File) Crawlers() []Crawler {
	groups := make(map[string]int) // by lower-case token
	for i, group := range f.Groups {
		for _, token := range group.UserAgents {
			groups[strings.ToLower(token)] = i
		}
	}
	effects := make(map[int]Effect) // a file may be long, and one group for all of them
	list := make([]Crawler, 0, len(crawlers))
	for _, c := range crawlers {
		crawler := Crawler{Name: c.name, Effect: AllowAll}
		for _, token := range []string{c.name, c.follows, "*"} {
			i, ok := groups[strings.ToLower(token)]
			if !ok {
				continue
			}
			if _, known := effects[i]; !known {
				effects[i] = f.Groups[i].effect()
			}
			crawler.Effect = effects[i]
			break
		}
		list = append(list, crawler)
	}
	return list
}

// CrawlersWithoutFile is what the known crawlers make of a site whose file says nothing, each of them the same.
func CrawlersWithoutFile(effect Effect) []Crawler {
	list := make([]Crawler, 0, len(crawlers))
	for _, c := range crawlers {
		list = append(list, Crawler{Name: c.name, Effect: effect})
	}
	return list
}
