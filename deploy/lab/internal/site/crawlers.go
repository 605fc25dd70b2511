package site

import "net/http"

const robotsByName = `User-agent: *
Disallow:

User-agent: Googlebot
User-agent: GPTBot
Disallow: /

User-agent: Yandex
Disallow: /search
`

func addCrawlerSites(add adder) {
	add("robots-names", "robots.txt that shuts two crawlers out by name",
		web(files(map[string]file{"/robots.txt": plain(robotsByName)})))
	add("robots-limited", "answers 429 to crawlers", web(status(http.StatusTooManyRequests)))
}
