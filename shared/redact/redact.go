// Package redact makes of an error what a log may hold that never holds input. An error's text is whatever its maker
// put in it: the name that was looked up, the address that was dialled, what a stranger's server sent.
package redact

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"diagnostics/shared/parallel"
)

// Loggable is an error that has a text for the log.
type Loggable interface {
	error
	// LogText holds nothing of a visitor's, and nothing that came over the network.
	LogText() string
}

// Message returns the text of an unexpected error, whose types alone would not locate the mistake: as Text does, after
// cut has removed what its caller must not log; nil for a nil error. A panic keeps its whole stack, which holds only
// our own names.
func Message(err error, cut func(string) string) string {
	if cut == nil {
		cut = func(text string) string { return text }
	}
	if p, is := errors.AsType[*parallel.Panic](err); is {
		return "panic: " + Text(cut(fmt.Sprint(p.Value))) + "\n\n" + string(p.Stack)
	}
	return Text(cut(err.Error()))
}

// hidden are the parts of a text that may name a person or a target, in the order in which they are looked for.
var hidden = []struct {
	is *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://\S*`), "[url]"},
	{regexp.MustCompile(`(?s)"(?:[^"\\]|\\.?)*(?:"|$)`), "[text]"},
	{regexp.MustCompile("(^|[\\s(:=,])(?:'[^']*(?:'|$)|`[^`]*(?:`|$))"), "$1[text]"},
	{regexp.MustCompile(`[\pL\pN_-]+(?:\.[\pL\pN_-]+)+\.?(?::\d+)?`), "[name]"},
	{regexp.MustCompile(`\[?[0-9A-Fa-f]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*(?:%\w+)?\]?(?::\d+)?`), "[address]"},
}

const (
	// longest is the most bytes that Text gives.
	longest = 4 << 10
	cutMark = "… [cut]"
)

// Text is a text without URLs, addresses, names with a dot, and whatever stands in quotation marks. It has at most 4
// KiB; the mark "… [cut]" stands where the rest is missing.
func Text(text string) string {
	text = strings.ToValidUTF8(text, "�")
	for _, h := range hidden {
		text = h.is.ReplaceAllString(text, h.by)
	}
	return shorten(text)
}

// shorten comes last: half a name is no longer seen to be one.
func shorten(text string) string {
	if len(text) <= longest {
		return text
	}
	end := longest - len(cutMark)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cutMark
}
