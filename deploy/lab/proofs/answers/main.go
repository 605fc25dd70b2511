// Answers compares the recorded answers of two versions without what one of them adds: it takes away members by name,
// prints what else differs, and lists the state and the code of every conclusion that changed.
//
//	go run ./proofs/answers -from main -without brief,meaning,args
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const recorded = "e2e/testdata/golden"

func main() {
	from := flag.String("from", "main", "the version to compare with")
	without := flag.String("without", "brief,meaning,args", "members of conclusions and findings to leave out")
	flag.Parse()
	if err := run(*from, strings.Split(*without, ",")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(from string, without []string) error {
	dir, err := os.MkdirTemp("", "answers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	paths, err := filepath.Glob(recorded + "/*.txt")
	if err != nil {
		return err
	}
	conclusions := map[string][2]string{}
	for _, path := range paths {
		old, err := exec.CommandContext(context.Background(), "git", "show", from+":./"+path).Output()
		if err != nil {
			return fmt.Errorf("%s at %s: %w", path, from, err)
		}
		now, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, text := range [][]byte{old, now} {
			side := filepath.Join(dir, []string{"before", "after"}[i])
			if err := os.MkdirAll(side, 0o700); err != nil {
				return err
			}
			stripped := new(bytes.Buffer)
			for head, body := range answers(text) {
				shown, concluded := strip(body, without)
				fmt.Fprintf(stripped, "%s\n%s\n", head, shown)
				if concluded != "" {
					c := conclusions[head]
					c[i] = concluded
					conclusions[head] = c
				}
			}
			if err := os.WriteFile(filepath.Join(side, filepath.Base(path)), stripped.Bytes(), 0o600); err != nil {
				return err
			}
		}
	}
	same := 0
	for _, head := range slices.Sorted(maps.Keys(conclusions)) {
		if c := conclusions[head]; c[0] != c[1] {
			fmt.Printf("%-28s -> %-28s %s\n", c[0], c[1], head)
		} else {
			same++
		}
	}
	fmt.Printf("%d of %d conclusions have the same state and code\n", same, len(conclusions))
	diff := exec.CommandContext(context.Background(), "diff", "-ru", "before", "after")
	diff.Dir, diff.Stdout, diff.Stderr = dir, os.Stdout, os.Stderr
	var differs *exec.ExitError
	if err := diff.Run(); err != nil && !errors.As(err, &differs) {
		return err
	}
	return nil
}

// answers yields each recorded request, and the body of its answer.
func answers(text []byte) func(yield func(head, body string) bool) {
	return func(yield func(string, string) bool) {
		head, body := "", []string{}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\n")
			if begins(line) {
				if head != "" && !yield(head, strings.Join(body, "\n")) {
					return
				}
				head, body = line, nil
				continue
			}
			body = append(body, line)
		}
		if head != "" {
			yield(head, strings.Join(body, "\n"))
		}
	}
}

func begins(line string) bool {
	method, _, _ := strings.Cut(line, " ")
	return slices.Contains([]string{"GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"}, method)
}

// strip returns the body without the members, with its findings in the order of their codes, and the state and code of
// its conclusion. What is not JSON stays as it is.
func strip(body string, without []string) (shown, concluded string) {
	at := strings.Index(body, "{\n")
	if at < 0 {
		return body, ""
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(body[at:]))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return body, ""
	}
	concluded = walk(value, without)
	out := new(bytes.Buffer)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if encoder.Encode(value) != nil {
		return body, concluded
	}
	return body[:at] + out.String(), concluded
}

func walk(value any, without []string) (concluded string) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			if c := walk(element, without); concluded == "" {
				concluded = c
			}
		}
	case map[string]any:
		if c, is := v["conclusion"].(map[string]any); is {
			concluded = fmt.Sprint(c["state"], " ", c["code"])
		}
		if _, is := v["message"]; is && v["code"] != nil {
			for _, name := range without {
				delete(v, name)
			}
		}
		if list, is := v["findings"].([]any); is {
			slices.SortStableFunc(list, func(a, b any) int { return strings.Compare(key(a), key(b)) })
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if c := walk(v[name], without); concluded == "" {
				concluded = c
			}
		}
	}
	return concluded
}

func key(finding any) string {
	f, _ := finding.(map[string]any)
	return fmt.Sprint(f["message"], f["code"])
}
