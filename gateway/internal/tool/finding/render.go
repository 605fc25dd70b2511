package finding

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/text"
)

// A template is a sentence with arguments in it:
//
//	{name}            the argument: a duration as "340 ms" or "3.0 s", a day as "13 January 2027", a list as "a, b and c"
//	{name:one|many}   the first word if a number is 1 or a list has one element, otherwise the second
//	{name?yes|no}     the first text if the argument is there, otherwise the second, which may be left out
//	{list+rest}       the list, and how many there are besides: "a, b and 3 more", or "a, b and others"
//	[ … ]             left out if an argument in it is not there
//
// An argument is not there if it is empty, false, or was not given; the number 0 is there. A backslash takes the
// special meaning from the character after it.

// The types of arguments.
const (
	typeText     = "text"
	typeNumber   = "number"
	typeCount    = "count" // a number with the thousands apart
	typePercent  = "percent"
	typeDuration = "duration"
	typeSpan     = "span"    // a duration in its largest unit, rounded down: "3 days"
	typeSeconds  = "seconds" // as TTLs are, until seconds say nothing to people
	typeDay      = "day"
	typeList     = "list"
	typeFlag     = "flag"
	typeRest     = "rest" // how many a list leaves out, or true if that is not known
	// A duration until something may be tried again: "13 seconds", "2 minutes".
	typeWait = "wait"

	// The code of a row that has its arguments among the same ones: its Clause, or its Message, is put in.
	typeCode     = "code"
	typeCodes    = "codes" // several of them
	typeSentence = "sentence"
	typeRemedy   = "remedy" // the code of such a row, whose Remedy is put in
	// The code of a row whose Message goes on after a colon: without its capital letter and its period.
	typeContinued = "continued"
)

var argTypes = []string{typeText, typeNumber, typeCount, typePercent, typeDuration, typeSpan, typeSeconds,
	typeDay, typeList, typeFlag, typeRest, typeWait, typeCode, typeCodes, typeContinued, typeSentence, typeRemedy}

// maxDepth is how deep rows may name each other.
const maxDepth = 3

// parseArgs reads "host text, days number".
func parseArgs(args string) map[string]string {
	types := map[string]string{}
	for arg := range strings.SplitSeq(args, ",") {
		if name, kind, ok := strings.Cut(strings.TrimSpace(arg), " "); ok {
			types[name] = kind
		}
	}
	return types
}

// placeholders returns the names of the arguments of a template. It fails if a bracket or brace is not closed.
func placeholders(template string) (names []string, err error) {
	open := false
	for i := 0; i < len(template); i++ {
		switch template[i] {
		case '\\':
			i++
		case '[', ']':
			if open == (template[i] == '[') {
				return names, errors.New("brackets do not match")
			}
			open = !open
		case '{':
			end := strings.IndexByte(template[i:], '}')
			if end < 0 {
				return names, errors.New("a brace is not closed")
			}
			name := template[i+1 : i+end]
			if j := strings.IndexAny(name, ":?"); j >= 0 {
				name = name[:j]
			}
			names = append(names, strings.Split(name, "+")...)
			i += end
		}
	}
	if open {
		return names, errors.New("a bracket is not closed")
	}
	return names, nil
}

// writer fills the arguments of one row into its templates.
type writer struct {
	rows   Rows
	types  map[string]string
	values Values
	depth  int
	brief  bool // a row that an argument names is put in by its Brief, if it has one
}

func (r Rows) writer(row Row, values Values) writer {
	return writer{rows: r, types: parseArgs(row.Args), values: values}
}

// write fills in a template.
func (w writer) write(template string) string {
	var out strings.Builder
	w.part(&out, template)
	return out.String()
}

// part writes a part of a template, and reports whether all arguments in it were there.
func (w writer) part(out *strings.Builder, template string) (complete bool) {
	complete = true
	for i := 0; i < len(template); i++ {
		switch c := template[i]; c {
		case '\\':
			if i++; i < len(template) {
				out.WriteByte(template[i])
			}
		case '[':
			end := closing(template, i)
			var inner strings.Builder
			if w.part(&inner, template[i+1:end]) {
				out.WriteString(inner.String())
			}
			i = end
		case '{':
			end := i + max(strings.IndexByte(template[i:], '}'), 1)
			words, there := w.argument(template[i+1 : end])
			out.WriteString(words)
			complete = complete && there
			i = end
		default:
			out.WriteByte(c)
		}
	}
	return complete
}

// closing returns where the bracket that opens at i closes.
func closing(template string, i int) int {
	for j := i + 1; j < len(template); j++ {
		switch template[j] {
		case '\\':
			j++
		case ']':
			return j
		}
	}
	return len(template) - 1
}

// argument returns the words for what stands between braces, and whether its argument is there.
func (w writer) argument(placeholder string) (words string, there bool) {
	name, choice := placeholder, ""
	i := strings.IndexAny(placeholder, ":?")
	if i >= 0 {
		name, choice = placeholder[:i], placeholder[i+1:]
	}
	if list, rest, both := strings.Cut(name, "+"); both && i < 0 {
		return w.list(list, rest)
	}
	raw, there := w.values[name]
	first, second, _ := strings.Cut(choice, "|")
	switch {
	case i >= 0 && placeholder[i] == '?':
		if there {
			return first, true
		}
		return second, second != ""
	case !there:
		return "", false
	case i >= 0:
		if isOne(raw) {
			return first, true
		}
		return second, true
	}
	words, err := w.format(w.types[name], raw)
	if err != nil {
		return "", false
	}
	return words, true
}

// list returns the words for a list, and for how many it leaves out.
func (w writer) list(name, rest string) (words string, there bool) {
	var list []string
	if json.Unmarshal(w.values[name], &list) != nil || len(list) == 0 {
		return "", false
	}
	if besides, err := w.format(typeRest, w.values[rest]); err == nil {
		list = append(list, besides)
	}
	return text.Listed(list), true
}

// isOne reports whether a value is the number 1 or a list of one element.
func isOne(raw json.RawMessage) bool {
	var n float64
	if json.Unmarshal(raw, &n) == nil {
		return n == 1
	}
	var list []string
	return json.Unmarshal(raw, &list) == nil && len(list) == 1
}

// format writes a value of a type in words. It fails if the value has another type.
func (w writer) format(kind string, raw json.RawMessage) (string, error) {
	switch kind {
	case typeCode, typeSentence, typeContinued, typeRemedy:
		var code string
		if err := json.Unmarshal(raw, &code); err != nil {
			return "", err
		}
		row, known := w.rows[code]
		if !known || w.depth == maxDepth {
			return "", fmt.Errorf("no row for %q", code)
		}
		inner := writer{w.rows, parseArgs(row.Args), w.values, w.depth + 1, w.brief}
		switch {
		case kind == typeRemedy:
			return inner.write(row.Remedy), nil
		case w.brief && row.Brief != "":
			return inner.write(row.Brief), nil
		case kind == typeSentence:
			return inner.write(row.Message), nil
		case kind == typeContinued:
			return continued(inner.write(row.Message)), nil
		}
		return inner.write(cmp.Or(row.Clause, row.Message)), nil
	case typeCodes:
		var codes []json.RawMessage
		if err := json.Unmarshal(raw, &codes); err != nil {
			return "", err
		}
		var words []string
		for _, code := range codes {
			clause, err := w.format(typeCode, code)
			if err != nil {
				return "", err
			}
			words = append(words, clause)
		}
		return text.Listed(words), nil
	case typeText:
		return decoded[string](raw, func(s string) string { return s })
	case typeNumber:
		return decoded(raw, formatNumber)
	case typeCount:
		return decoded(raw, formatCount)
	case typePercent:
		return decoded(raw, formatPercent)
	case typeDuration:
		return decoded(raw, FormatMilliseconds)
	case typeSpan:
		return decoded(raw, formatSpan)
	case typeSeconds:
		return decoded(raw, formatSeconds)
	case typeDay:
		s, err := decoded[string](raw, func(s string) string { return s })
		if err != nil {
			return "", err
		}
		day, err := time.Parse(time.DateOnly, s)
		return day.Format("2 January 2006"), err
	case typeList:
		return decoded(raw, text.Listed)
	case typeRest:
		if n, err := decoded(raw, formatCount); err == nil {
			return n + " more", nil
		}
		return decoded(raw, func(bool) string { return "others" })
	case typeFlag:
		return decoded(raw, strconv.FormatBool)
	case typeWait:
		return decoded(raw, formatWait)
	}
	return "", fmt.Errorf("no type %q", kind)
}

// continued makes a sentence that begins with a word of its own go on after a colon.
func continued(sentence string) string {
	sentence = strings.TrimSuffix(sentence, ".")
	return strings.ToLower(sentence[:min(len(sentence), 1)]) + sentence[min(len(sentence), 1):]
}

func decoded[T any](raw json.RawMessage, format func(T) string) (string, error) {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", err
	}
	return format(v), nil
}

// formatNumber writes a number with at most three decimals.
func formatNumber(n float64) string { return strconv.FormatFloat(math.Round(n*1000)/1000, 'f', -1, 64) }

// formatCount writes a whole number with the thousands apart: 1,400.
func formatCount(n float64) string {
	digits := strconv.FormatFloat(math.Abs(n), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n < 0 {
		return "-" + digits
	}
	return digits
}

func formatPercent(n float64) string {
	if n == math.Trunc(n) {
		return fmt.Sprintf("%.0f %%", n)
	}
	return fmt.Sprintf("%.1f %%", n)
}

// formatSpan writes a duration in its largest unit, rounded down: 59 seconds, 119 minutes, 47 hours, 2 days.
func formatSpan(ms float64) string {
	d := time.Duration(ms) * time.Millisecond
	const day = 24 * time.Hour
	n, unit := int(d/time.Second), "second"
	switch {
	case d >= 2*day:
		n, unit = int(d/day), "day"
	case d >= 2*time.Hour:
		n, unit = int(d/time.Hour), "hour"
	case d >= time.Minute:
		n, unit = int(d/time.Minute), "minute"
	}
	return fmt.Sprintf("%d %s", n, text.Number(n, unit, unit+"s"))
}

// formatSeconds writes a number of seconds: 599 s, 10 minutes, 3 hours, 2 days, rounded up.
func formatSeconds(s float64) string {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	switch {
	case s < 10*minute:
		return fmt.Sprintf("%.0f s", s)
	case s < 2*hour:
		return fmt.Sprintf("%.0f minutes", math.Ceil(s/minute))
	case s < 2*day:
		return fmt.Sprintf("%.0f hours", math.Ceil(s/hour))
	}
	return fmt.Sprintf("%.0f days", math.Ceil(s/day))
}

// formatWait rounds up, as Retry-After does.
func formatWait(ms float64) string {
	switch seconds := math.Ceil(max(ms, 1000) / 1000); {
	case seconds == 1:
		return "1 second"
	case seconds < 120:
		return fmt.Sprintf("%.0f seconds", seconds)
	default:
		return fmt.Sprintf("%.0f minutes", math.Ceil(seconds/60))
	}
}

// FormatMilliseconds writes a time for a sentence: 0.25 ms, 12.3 ms, 340 ms, 3.0 s.
func FormatMilliseconds(ms float64) string {
	switch {
	case ms >= 999.5:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.2f ms", ms)
}
