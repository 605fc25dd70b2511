package robotstxt

import (
	"fmt"
	"strings"
	"testing"
)

func TestCrawlers(t *testing.T) {
	t.Parallel()
	const closed, open, some = "\nDisallow: /\n", "\nDisallow:\n", "\nDisallow: /x\n"
	for name, test := range map[string]struct{ file, want string }{
		"an empty file":                 {"", "A A A A A A A A"},
		"all alike":                     {"User-agent: *" + closed, "D D D D D D D D"},
		"a group of one's own":          {"User-agent: GPTBot" + closed, "A A A A A D A A"},
		"Applebot follows Googlebot":    {"User-agent: Googlebot" + closed, "D A D A A A A A"},
		"before the group for all":      {"User-agent: *" + closed + "User-agent: googlebot" + open, "A D A D D D D D"},
		"but not past its own":          {"User-agent: Googlebot" + closed + "User-agent: Applebot" + some, "D A R A A A A A"},
		"and none follows Applebot":     {"User-agent: Applebot" + closed, "A A D A A A A A"},
		"YandexBot follows Yandex":      {"User-agent: Yandex" + closed, "A A A A D A A A"},
		"but its own group first":       {"User-agent: Yandex" + closed + "User-agent: YandexBot" + some, "A A A A R A A A"},
		"in any case, with a version":   {"User-agent: BINGBOT/2.0" + some, "A R A A A A A A"},
		"a longer token is another":     {"User-agent: Googlebot-Image" + closed, "A A A A A A A A"},
		"a shorter token is another":    {"User-agent: Google" + closed, "A A A A A A A A"},
		"one group for several":         {"User-agent: CCBot\nUser-agent: ClaudeBot" + closed, "A A A A A A D D"},
		"groups of one crawler joined":  {"User-agent: CCBot" + some + "User-agent: ccbot\nDisallow: /", "A A A A A A A D"},
		"a group without rules is open": {"User-agent: *" + closed + "User-agent: DuckDuckBot\n", "D D D A D D D D"},
	} {
		letters := map[Effect]string{AllowAll: "A", SomeRules: "R", DisallowAll: "D"}
		var names, got []string
		for _, c := range parse(test.file).Crawlers() {
			names, got = append(names, c.Name), append(got, letters[c.Effect])
		}
		if joined := strings.Join(got, " "); joined != test.want {
			t.Errorf("%s: %s, want %s", name, joined, test.want)
		}
		const order = "[Googlebot Bingbot Applebot DuckDuckBot YandexBot GPTBot ClaudeBot CCBot]"
		if fmt.Sprint(names) != order {
			t.Errorf("%s: %v", name, names)
		}
	}
	for _, c := range CrawlersWithoutFile(DisallowAll) {
		if c.Effect != DisallowAll {
			t.Errorf("without a file: %+v", c)
		}
	}
}
