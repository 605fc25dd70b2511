package web_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Sentences of the API may be reworded at any time (docs/contract.md#conclusion-and-findings). Modules show them, and
// decide by codes: none compares, matches or cuts one. A comparison with null, with nothing or with one word, which
// is a code, is none with a sentence.
func TestNoModuleReadsAMessage(t *testing.T) {
	t.Parallel()
	for name, source := range bare(t) {
		for _, found := range messageUses(string(source)) {
			t.Errorf("%s decides by the wording of a message: %s", name, found)
		}
	}
}

func TestUsesOfMessagesAreFound(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		`if (d.conclusion.message === "It is down.") x();`:             true,
		`if ("It is down." === d.conclusion.message) x();`:             true,
		`if (a.message !== b.message) x();`:                            true,
		`if (error.startsWith("The diagnostics worker ")) x();`:        true,
		`if ((error ?? "").includes("busy")) x();`:                     true,
		`if (finding.remedy?.includes("SPF")) x();`:                    true,
		`const first = verdict.text.split(". ")[0];`:                   true,
		`const short = issue.message.slice(0, 40);`:                    true,
		`const rest = message.replace(/\.$/, "");`:                     true,
		`const [first] = /^.*?[.]/.exec(concern.text) ?? [];`:          true,
		`if (/expired/.test(d.reason)) x();`:                           true,
		`if (known.includes(f.message)) x();`:                          true,
		`switch (d.conclusion.message) { }`:                            true,
		"if (answer.error\n    .match(/again/)) x();":                  true,
		`if (d.conclusion.code === "DOWN") x();`:                       false,
		`if (d.reason === "notFound") x();`:                            false,
		`if (d.reason !== null && error !== undefined) x();`:           false,
		`if (typeof error === "string" && f.message !== "") x();`:      false,
		`const note = el("p", {}, finding.message, " ", f.remedy);`:    false,
		`const text = [finding.message, f.remedy].filter(x).join(" ")`: false,
		`if (found.text.toLowerCase() !== typed.toLowerCase()) x();`:   false,
		`const messages = list.map((f) => f.message).slice(0, 4);`:     false,
	} {
		if found := messageUses(source); (len(found) > 0) != want {
			t.Errorf("%s: %q", source, found)
		}
	}
}

// messageField is a field, or a variable, that holds a sentence of the API.
const messageField = `(?:(?:[\w$]+\??\.)*\b(?:verdict|conclusion|concern|finding|entry|issue)\??\.text|` +
	`(?:[\w$]+\??\.)*\b(?:message|remedy|error|reason|summary))\b`

var (
	messageCalled = regexp.MustCompile(messageField + `(?:\s*\?\?\s*""\))?\s*\??\.\s*(?:includes|startsWith|endsWith|` +
		`match|matchAll|replace|replaceAll|split|slice|substring|substr|indexOf|lastIndexOf|search|charAt|at|` +
		`localeCompare|toLowerCase|toUpperCase)\(`)
	messageGiven = regexp.MustCompile(`\.(?:test|exec|includes|startsWith|endsWith|indexOf|has)\(\s*` + messageField +
		`\s*(?:\?\?\s*"")?\)`)
	messageSwitched = regexp.MustCompile(`switch\s*\(\s*` + messageField)
	messageLeft     = regexp.MustCompile(messageField + `\s*[!=]==?\s*("[^"]*"|[\w$]+(?:\??\.[\w$]+)*)`)
	messageRight    = regexp.MustCompile(`("[^"]*"|[\w$.?\])]+)\s*[!=]==?\s*` + messageField + `\b`)
	oneWord         = regexp.MustCompile(`^(?:"\w*"|null|undefined)$`)
)

// messageUses returns the places of a module that compare, match or cut a message.
func messageUses(source string) (found []string) {
	for _, use := range []*regexp.Regexp{messageCalled, messageGiven, messageSwitched} {
		found = append(found, use.FindAllString(source, -1)...)
	}
	for _, use := range []*regexp.Regexp{messageLeft, messageRight} {
		for _, m := range use.FindAllStringSubmatch(source, -1) {
			if !oneWord.MatchString(m[1]) {
				found = append(found, strings.Join(strings.Fields(fmt.Sprint(m[0])), " "))
			}
		}
	}
	return found
}
