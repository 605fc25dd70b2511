package main

import (
	"fmt"
	"os"
	"strings"
)

// publish prints the tables in Markdown, and puts them into the file of -update between the marks of their names.
func (b *bench) publish() error {
	text := ""
	if b.options.update != "" {
		read, err := os.ReadFile(b.options.update)
		if err != nil {
			return err
		}
		text = string(read)
	}
	for _, t := range b.tables {
		fmt.Printf("\n%s\n", t)
		if b.options.update == "" {
			continue
		}
		begin, end := "<!-- bench:"+t.name+" -->\n", "<!-- /bench:"+t.name+" -->"
		before, rest, found := strings.Cut(text, begin)
		_, after, ends := strings.Cut(rest, end)
		if !found || !ends {
			return fmt.Errorf("%s has no place for %s", b.options.update, t.name)
		}
		text = before + begin + t.String() + end + after
	}
	if b.options.update == "" {
		return nil
	}
	return os.WriteFile(b.options.update, []byte(text), 0o644)
}
