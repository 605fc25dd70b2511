// Package docs reads the commands out of the project's pages and runs them, so that no page has operators type
// what does not work.
//
// A command stands in a fence ```sh. The line before the fence is a comment that says who runs it:
//
//	<!-- run: host, compose -->          who runs them: Host, Compose or both
//	<!-- not run: needs a public name --> why none does
//
// Inline code only names commands: whatever is to be typed stands in a fence, see Inline.
//
// The fences of a page that one group runs are run in one shell, in their order: what a page defines in the beginning
// holds to its end.
package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The groups: what has to be there for the commands to work.
const (
	// Host is a gateway, a worker and a Redis as programs of this host.
	Host = "host"
	// Compose is a running project of docker compose.
	Compose = "compose"
)

// Block is a fence of commands.
type Block struct {
	File    string // as Read was given it
	Line    int    // of its first command
	Section string // the "## " heading above it, empty where there is none
	Groups  []string
	Reason  string // why no group runs it
	Text    string
}

// Where names the block in messages.
func (b Block) Where() string { return fmt.Sprintf("%s:%d", b.File, b.Line) }

var (
	fence     = regexp.MustCompile("^( *)```(.*)$")
	directive = regexp.MustCompile(`^ *<!-- (run|not run): (.*) -->$`)
	plain     = []string{"caddyfile", "html", "ini", "json", "nginx", "promql", "text", "yaml"}
)

// Read gives the commands of a Markdown page. An error names the line: a fence of commands without the comment that
// says who runs it, a comment without its fence, or a fence of an unknown language.
func Read(file, page string) ([]Block, error) {
	r := reader{file: file}
	for i, line := range strings.Split(page, "\n") {
		if err := r.line(i+1, line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	if r.open {
		return nil, fmt.Errorf("%s: the last fence has no end", file)
	}
	return r.blocks, nil
}

var (
	inline = regexp.MustCompile("`([^`]+)`")
	// A program that operators type, with arguments.
	typed = regexp.MustCompile(`^(sudo )?(apt-get|curl|df|dig|docker|docker-compose|ip|journalctl|kill|nft|nsenter|` +
		`nstat|openssl|redis-cli|ss|ssh|sysctl|systemctl|wget) \S`)
	// The name of a command, and what it does in one word.
	named = regexp.MustCompile(`^(docker compose|(docker|ip|openssl|systemctl|docker compose) [a-z_]+)$`)
)

// Inline gives the commands in the text of a page outside its fences, each behind its line: nothing says who runs them.
// The name of one, `docker compose up`, is none.
func Inline(page string) (commands []string) {
	open := false
	for i, line := range strings.Split(page, "\n") {
		if fence.MatchString(line) {
			open = !open
		}
		if open {
			continue
		}
		for _, code := range inline.FindAllStringSubmatch(line, -1) {
			if typed.MatchString(code[1]) && !named.MatchString(code[1]) {
				commands = append(commands, fmt.Sprintf("%d: %s", i+1, code[1]))
			}
		}
	}
	return commands
}

// reader is a page half read.
type reader struct {
	file, section string
	// said is the comment that the next fence is to follow, nil for none.
	said []string
	// open is that a fence is, of commands where block is not nil, after so many spaces.
	open   bool
	block  *Block
	indent string
	blocks []Block
}

func (r *reader) line(number int, line string) error {
	mark := fence.FindStringSubmatch(line)
	switch {
	case r.open && mark != nil && mark[2] == "":
		r.end()
		return nil
	case r.open:
		if r.block != nil {
			r.block.Text += strings.TrimPrefix(line, r.indent) + "\n"
		}
		return nil
	case mark != nil:
		return r.begin(number, mark[1], mark[2])
	case r.said != nil && strings.TrimSpace(line) != "":
		return fmt.Errorf("the comment %q is followed by no commands", r.said[0])
	}
	if said := directive.FindStringSubmatch(line); said != nil {
		r.said = said
	}
	if heading, ok := strings.CutPrefix(line, "## "); ok {
		r.section = heading
	}
	return nil
}

func (r *reader) begin(number int, indent, language string) error {
	said := r.said
	r.open, r.said, r.indent = true, nil, indent
	switch {
	case language != "sh" && said != nil:
		return fmt.Errorf("the comment %q is followed by no commands", said[0])
	case slices.Contains(plain, language):
		return nil
	case language != "sh":
		return fmt.Errorf("a fence of %q: commands are sh, and the rest is one of %s", language, strings.Join(plain, ", "))
	case said == nil:
		return fmt.Errorf("nothing says who runs these commands: write <!-- run: %s -->, <!-- run: %s --> or "+
			"<!-- not run: why --> on the line before", Host, Compose)
	}
	r.block = &Block{File: r.file, Line: number + 1, Section: r.section}
	if said[1] == "not run" {
		r.block.Reason = said[2]
		return nil
	}
	for _, group := range strings.Split(said[2], ", ") {
		if group != Host && group != Compose {
			return fmt.Errorf("there is no group %q", group)
		}
		r.block.Groups = append(r.block.Groups, group)
	}
	return nil
}

func (r *reader) end() {
	if r.block != nil {
		r.blocks = append(r.blocks, *r.block)
	}
	r.open, r.block = false, nil
}
