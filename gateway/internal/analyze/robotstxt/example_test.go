package robotstxt_test

import (
	"fmt"

	"diagnostics/gateway/internal/analyze/robotstxt"
)

// A file may say one thing to all crawlers and another to some.
func ExampleParse() {
	body := "User-agent: *\nDisallow: /private\n\nUser-agent: GPTBot\nDisallow: /\n\nDisalow: /x\n"
	file := robotstxt.Parse([]byte(body), false)
	fmt.Println("others:", file.Effect())
	for _, crawler := range file.Crawlers() {
		if crawler.Effect == robotstxt.DisallowAll {
			fmt.Println(crawler.Name, "is disallowed")
		}
	}
	for _, issue := range file.Issues {
		fmt.Println(issue.Line, issue.Code)
	}
	// Output:
	// others: rules
	// GPTBot is disallowed
	// 7 MISSPELT_FIELD
}
