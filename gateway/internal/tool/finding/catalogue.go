package finding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Row defines one code. A conclusion has a State, a finding has Severity, Group and Weight; a code that is both has all
// of them, and one that has neither is a sentence of an older field, or a part of another sentence. All texts are
// templates (render.go).
type Row struct {
	State State

	Severity Severity
	Group    Group
	Weight   int

	// Args are the names and types of the arguments: "host text, took duration, days number".
	Args    string
	Message string
	// Clause is the message as a part of another row's sentence, into which an argument of type code puts it: "it refused
	// the connection". If it is empty, Message is put in.
	Clause string
	// Brief is the short form of a conclusion, for a tile or a table cell; at most MaxBrief characters are sent.
	Brief string
	// Meaning says what a conclusion means for the target, and what to do first; empty if the message says it all.
	Meaning string
	Remedy  string
	// Paste repairs what a finding reports. Only arguments that come from the target enter it.
	Paste     Paste
	Reference string
}

// MaxBrief is the most characters of a Brief.
const MaxBrief = 24

// Rows are the rows of a tool by their code.
type Rows map[string]Row

// Join returns the rows of several tables. A code that stands in two of them panics: each code has one row.
func Join(tables ...Rows) Rows {
	all := Rows{}
	for _, table := range tables {
		for code, row := range table {
			if _, known := all[code]; known {
				panic("finding: two rows for " + code)
			}
			all[code] = row
		}
	}
	return all
}

// Only returns the rows of these codes, for a tool that reports some of a shared table.
func (r Rows) Only(codes ...string) Rows {
	some := make(Rows, len(codes))
	for _, code := range codes {
		row, known := r[code]
		if !known {
			panic("finding: no row for " + code)
		}
		some[code] = row
	}
	return some
}

// Without returns the rows but those of some codes.
func (r Rows) Without(codes ...string) Rows {
	some := maps.Clone(r)
	for _, code := range codes {
		delete(some, code)
	}
	return some
}

// WithClauses returns the rows and those of shared, whose codes arguments can name. These are neither conclusions nor
// findings of the tool, unless the tool has them among its own rows.
func (r Rows) WithClauses(shared Rows) Rows {
	all := maps.Clone(r)
	for code, row := range shared {
		if _, own := r[code]; !own {
			row.State, row.Severity = "", ""
			all[code] = row
		}
	}
	return all
}

// Args are the arguments of a row by name. A text or a code is a string, a netip.Addr or a netip.Prefix, a number is
// an int or float64, a duration a time.Duration, a day a time.Time, a list a []string, a flag a bool.
type Args map[string]any

// WithList adds a list of which at most limit elements are named, and the number of the others as "more", of type rest.
func (a Args) WithList(name string, limit int, all []string) Args {
	if len(all) > limit {
		return a.With(Args{name: all[:limit], "more": len(all) - limit})
	}
	return a.With(Args{name: all})
}

// With returns the arguments and those of another row, such as the one that an argument of type code names.
func (a Args) With(more Args) Args {
	all := make(Args, len(a)+len(more))
	maps.Copy(all, more)
	maps.Copy(all, a)
	return all
}

// Text returns the arguments as JSON, by which those of two failures can be compared.
func (a Args) Text() string {
	text, err := json.Marshal(a.values())
	if err != nil {
		return ""
	}
	return string(text)
}

// ArgsOf returns the arguments of a Text.
func ArgsOf(text string) Args {
	var values Values
	if json.Unmarshal([]byte(text), &values) != nil {
		return nil
	}
	args := make(Args, len(values))
	for name, value := range values {
		args[name] = value
	}
	return args
}

// Values are arguments as they are sent: a duration is a number of milliseconds, a day is "2006-01-02".
type Values map[string]json.RawMessage

// values encodes the arguments. Empty and false ones are left out.
func (a Args) values() Values {
	all := make(Values, len(a))
	for name, value := range a {
		switch v := value.(type) {
		case time.Duration:
			value = float64(v.Round(time.Microsecond)) / float64(time.Millisecond)
		case time.Time:
			value = v.UTC().Format(time.DateOnly)
		case netip.Addr:
			value = v.String()
		case netip.Prefix:
			value = v.String()
		case string:
			value = strings.ToValidUTF8(v, "\ufffd")
		}
		text, err := json.Marshal(value)
		if err != nil {
			continue
		}
		switch string(text) {
		case `""`, `false`, `null`, `[]`:
		default:
			all[name] = text
		}
	}
	return all
}

// Draft collects the findings of one run.
type Draft struct {
	rows     Rows
	findings []Finding
}

// Draft returns an empty draft that takes its words from the rows.
func (r Rows) Draft() *Draft { return &Draft{rows: r} }

// Add reports a finding. subject is the part of the target that it is about, such as an address, or empty.
func (d *Draft) Add(code, subject string, args Args) {
	d.findings = append(d.findings, d.rows.Find(code, subject, args))
}

// AddFinding reports findings that were made elsewhere.
func (d *Draft) AddFinding(findings ...Finding) { d.findings = append(d.findings, findings...) }

// Has reports whether a finding with the code was added.
func (d *Draft) Has(code string) bool {
	return slices.ContainsFunc(d.findings, func(f Finding) bool { return f.Code == code })
}

// Findings returns the findings in the order in which they were added.
func (d *Draft) Findings() []Finding { return d.findings }

// Conclude ends the draft.
func (d *Draft) Conclude(code string, args Args) Report {
	return NewReport(d.rows.Conclude(code, args), d.findings...)
}

// Conclude returns the conclusion of a code. A code without a row is a mistake of the program that must not fail a run:
// it becomes unknown, with the code as its message.
func (r Rows) Conclude(code string, args Args) Conclusion {
	values := args.values()
	r.examine(code, values)
	return r.conclude(code, values)
}

func (r Rows) conclude(code string, values Values) Conclusion {
	row, known := r[code]
	if !known {
		row = Row{State: Unknown, Message: code, Brief: "Unknown"}
	}
	w, short := r.writer(row, values), r.writer(row, values)
	short.brief = true
	c := Conclusion{State: row.State, Code: code, Brief: brief(short.write(row.Brief)), Message: w.write(row.Message),
		Args: values}
	if meaning := w.write(row.Meaning); meaning != "" {
		c.Meaning = &meaning
	}
	return c
}

// ConcludeWith returns the conclusion that has the code and the arguments of a finding.
func (r Rows) ConcludeWith(f Finding) Conclusion { return r.conclude(f.Code, f.Args) }

// Takes reports whether the row of a code declares an argument.
func (r Rows) Takes(code, arg string) bool {
	_, declared := parseArgs(r[code].Args)[arg]
	return declared
}

// Find returns the finding of a code about a subject, which may be empty. A code without a row becomes a note.
func (r Rows) Find(code, subject string, args Args) Finding {
	values := args.values()
	r.examine(code, values)
	return r.find(code, subject, values)
}

func (r Rows) find(code, subject string, values Values) Finding {
	row, known := r[code]
	if !known {
		row = Row{Severity: Info, Group: Note, Message: code}
	}
	w := r.writer(row, values)
	f := Finding{Code: code, Severity: row.Severity, Group: row.Group, Weight: row.Weight, Message: w.write(row.Message),
		Args: values}
	if remedy := w.write(row.Remedy); remedy != "" {
		f.Remedy = &remedy
	}
	if text := w.write(row.Paste.Text); text != "" {
		f.Paste = &Paste{row.Paste.Kind, text}
	}
	if subject != "" {
		f.Subject = &subject
	}
	if row.Reference != "" {
		f.Reference = &row.Reference
	}
	return f
}

// Sentence returns the message of a code, for fields that older clients read.
func (r Rows) Sentence(code string, args Args) string {
	values := args.values()
	r.examine(code, values)
	return r.writer(r[code], values).write(cmp.Or(r[code].Message, code))
}

// Clause returns the message of a code as a part of another sentence.
func (r Rows) Clause(code string, args Args) string {
	values := args.values()
	r.examine(code, values)
	return r.writer(r[code], values).write(cmp.Or(r[code].Clause, r[code].Message, code))
}

// Mistaken is called with every mistake in the use of the rows: a code without a row, an argument that its row does not
// declare or that has another type. Tests set it, and fail then.
var Mistaken = func(string) {}

// examine looks for such mistakes.
func (r Rows) examine(code string, values Values) {
	row, known := r[code]
	if !known {
		Mistaken("no row for " + code)
		return
	}
	types := r.argTypes(row, values, 0)
	for name, value := range values {
		if kind, declared := types[name]; !declared {
			Mistaken(fmt.Sprintf("%s has no argument %s", code, name))
		} else if _, err := r.writer(row, values).format(kind, value); err != nil {
			Mistaken(fmt.Sprintf("%s: argument %s = %s: %v", code, name, value, err))
		}
	}
}

// argTypes returns the types of a row's arguments by name, and of the arguments of the rows that its arguments name.
func (r Rows) argTypes(row Row, values Values, depth int) map[string]string {
	types := parseArgs(row.Args)
	for name, kind := range parseArgs(row.Args) {
		var code string
		named := kind == typeCode || kind == typeSentence || kind == typeContinued
		if !named || depth == maxDepth || json.Unmarshal(values[name], &code) != nil {
			continue
		}
		for name, kind := range r.argTypes(r[code], values, depth+1) {
			if _, own := types[name]; !own {
				types[name] = kind
			}
		}
	}
	return types
}

// brief bounds the short form: an argument may be a text of a server.
func brief(text string) string {
	if utf8.RuneCountInString(text) <= MaxBrief {
		return text
	}
	runes := []rune(text)
	return strings.TrimRight(string(runes[:MaxBrief-1]), " ") + "…"
}

// Check returns what is wrong with the rows, for a test of each tool.
func (r Rows) Check() (problems []string) {
	for _, code := range slices.Sorted(maps.Keys(r)) {
		for _, problem := range r[code].check() {
			problems = append(problems, code+": "+problem)
		}
	}
	return problems
}

var weights = map[Group][2]int{Broken: {60, 100}, Safer: {20, 59}, Note: {0, 19}}

func (row Row) check() (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	types := parseArgs(row.Args)
	for name, kind := range types {
		if !slices.Contains(argTypes, kind) {
			add("the argument %s has no type %q", name, kind)
		}
	}
	used := map[string]bool{}
	for field, text := range map[string]string{"message": row.Message, "clause": row.Clause, "brief": row.Brief,
		"meaning": row.Meaning, "remedy": row.Remedy, "paste": row.Paste.Text} {
		names, err := placeholders(text)
		if err != nil {
			add("%s: %v", field, err)
		}
		for _, name := range names {
			used[name] = true
			if types[name] == "" {
				add("%s: the argument %s is not declared", field, name)
			}
		}
		if field == "message" && len(names) == 1 && strings.Trim(text, " .,;:") == "{"+names[0]+"}" {
			add("the message consists of one argument")
		}
	}
	for name := range types {
		if !used[name] {
			add("the argument %s is not used", name)
		}
	}
	if row.Message == "" && (row.Clause == "" || row.State != "" || row.Severity != "") {
		add("no message")
	}
	if row.State != "" && row.Brief == "" {
		add("a conclusion without a brief")
	}
	if row.Severity != "" {
		if bounds := weights[row.Group]; row.Weight < bounds[0] || row.Weight > bounds[1] {
			add("the weight %d is not one of %s", row.Weight, row.Group)
		}
	}
	return problems
}
