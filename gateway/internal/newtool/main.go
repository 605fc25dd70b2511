// Command newtool writes the files of a new tool and its three lines: `make new-tool SLUG=cname-chain`. What it writes
// compiles, passes the tests and shows a page: a tool that looks up a host's addresses, to be made into the real one.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	root := flag.String("root", ".", "the checkout")
	slug := flag.String("slug", "", "the tool's name in the path, in kebab-case")
	flag.Parse()
	if err := run(*root, *slug); err != nil {
		fmt.Fprintln(os.Stderr, "newtool: "+err.Error())
		os.Exit(1)
	}
}

func run(root, slug string) error {
	made, err := plan(os.DirFS(root), slug)
	if err != nil {
		return err
	}
	if err := write(root, made); err != nil {
		return err
	}
	fmt.Print(report(made))
	return nil
}

// report lists what was written and what comes next.
func report(made []file) string {
	var b strings.Builder
	for _, f := range made {
		verb := "wrote  "
		if f.existed {
			verb = "line in"
		}
		fmt.Fprintf(&b, "%s %s\n", verb, f.name)
	}
	b.WriteString("\nNow make it the tool that you want, file by file, then: make generate test\n")
	return b.String()
}
