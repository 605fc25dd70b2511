package web

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Modules that pages load together travel in one file, as icons do in the sprite: most weigh less than the headers of a
// response of their own. Each is a function in that file, which returns what the module exports:
//
//	import {lib_format} from "./format.js";       of another file
//	const lib_dom=(()=>{const {ms}=lib_format;… return {byId,el};})();
//	export {lib_dom};
//
// The modules stay as they are otherwise: imports are one a line, in no circle, and nothing that is exported is
// assigned again. The tests of the modules require all of that.

// modules are the texts of our modules by name, and what each imports at once.
type modules struct {
	texts   map[string][]byte
	imports map[string][]string
}

func newModules(texts map[string][]byte) modules {
	m := modules{texts: texts, imports: map[string][]string{}}
	for name, text := range texts {
		m.imports[name] = importsOf(name, text)
	}
	return m
}

// closure is some modules with all that these import, each behind what it imports.
func (m modules) closure(names ...string) []string {
	var all []string
	var add func(name string)
	add = func(name string) {
		if _, ours := m.texts[name]; !ours || slices.Contains(all, name) {
			return
		}
		for _, next := range m.imports[name] {
			add(next)
		}
		all = append(all, name)
	}
	for _, name := range names {
		add(name)
	}
	return all
}

// files says which file each joined module is in. A file holds modules that are mostly wanted together, and imports
// only from files before it: each set is closed under imports, less sets that are closed as well.
func (m modules) files() map[string]string {
	tool, report := m.closure("pages/tool.js"), m.closure("pages/report.js")
	answer, parts := m.closure("lib/answer.js"), m.closure("lib/report-parts.js")
	var views []string // with what they need, which is not the report's alone
	for name := range m.texts {
		if strings.HasPrefix(name, "tools/") {
			views = append(views, name)
		}
	}
	in := map[string]string{}
	for _, file := range []struct {
		name    string
		modules []string
	}{
		{"lib/joined-all.js", m.closure("pages/site.js", "pages/api.js")},
		{"lib/joined-pages.js", common(tool, report)},
		{"lib/joined-parts.js", common(append(tool, answer...), append(report, parts...))},
		{"lib/joined-tool.js", tool},
		{"lib/joined-judges.js", without(m.closure(judges), m.closure("pages/connection.js"))},
		{"lib/joined-answer.js", answer},
		{"lib/joined-cards.js", common(parts, m.closure("lib/places.js"))},
		{"lib/joined-report.js", without(parts, m.closure(views...))},
	} {
		for _, name := range file.modules {
			if in[name] == "" && !strings.HasPrefix(name, "pages/") {
				in[name] = file.name
			}
		}
	}
	for _, name := range views {
		if _, file := path.Split(name); in[name] == "" && file != viewFile && file != watchFile {
			in[name] = path.Join(path.Dir(name), "joined.js")
		}
	}
	return in
}

func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) })
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return slices.Contains(b, name) })
}

// join gives the modules as they are served: those of one file in it, the others with imports from there. A joined
// module is at its own address too, where it exports what is in the file.
func join(texts map[string][]byte) (map[string][]byte, error) {
	m := newModules(texts)
	in := m.files()
	served, variables := map[string][]byte{}, map[string][]string{}
	for _, name := range m.closure(slices.Sorted(maps.Keys(texts))...) {
		if in[name] == "" {
			text, err := rewritten(name, texts[name], in)
			if err != nil {
				return nil, err
			}
			served[name] = text
			continue
		}
		file := in[name]
		if path.Dir(name) != path.Dir(file) && relative.Match(texts[name]) {
			return nil, fmt.Errorf("%s has an address that is relative to itself, and is moved to %s", sourceName(name), file)
		}
		body, exports, err := function(name, texts[name])
		if err != nil {
			return nil, err
		}
		served[file] = append(served[file], body...)
		served[name] = facade(name, file, exports)
		variables[file] = append(variables[file], variable(name))
	}
	for file, names := range variables {
		text := append(m.header(file, in), served[file]...)
		served[file] = fmt.Appendf(text, "export {%s};\n", strings.Join(names, ","))
	}
	return served, nil
}

// relative is what means another address from another folder.
var relative = regexp.MustCompile(`\bimport\(|\bimport\.meta\b`)

// statement is the beginning of a line that imports or exports: the names or the default's, and the address; a
// declaration with its name; or the default.
var statement = regexp.MustCompile(`^(?:(import|export) (?:(\w+)|\{([^}]*)\}) from "(\.[^"]+)";` +
	`|export ((?:async )?function|const|class) (\w+)|export default )`)

// each writes a module with what change gives for each statement; its arguments are the groups of statement.
func each(name string, text []byte, change func(groups []string) string) ([]byte, error) {
	var out []byte
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("import ")) || bytes.HasPrefix(line, []byte("export ")) {
			groups := statement.FindStringSubmatch(string(line))
			if groups == nil {
				return nil, fmt.Errorf("%s: %q cannot be joined with other modules", sourceName(name), line)
			}
			out, line = append(out, change(groups)...), line[len(groups[0]):]
		}
		out = append(out, line...)
	}
	return out, nil
}

// function is a module in its file, with what it exports: the members of an object literal by their names.
func function(name string, text []byte) (body []byte, exports map[string]string, err error) {
	exports = map[string]string{}
	text, err = each(name, text, func(groups []string) string {
		kind, given, list, address, declared, exported := groups[1], groups[2], groups[3], groups[4], groups[5], groups[6]
		from := variable(path.Join(path.Dir(name), address))
		switch {
		case kind == "import":
			return destructured(given, list) + "=" + from + ";"
		case kind == "export":
			for _, n := range namesIn(list) {
				exports[n.as] = from + "." + n.name
			}
			return ""
		case declared != "":
			exports[exported] = exported
			return declared + " " + exported
		}
		exports["default"] = "standard"
		return "const standard="
	})
	var members []string
	for _, as := range slices.Sorted(maps.Keys(exports)) {
		members = append(members, member(as, exports[as]))
	}
	body = fmt.Appendf(nil, "const %s=(()=>{%s\nreturn {%s};})();\n", variable(name), text, strings.Join(members, ","))
	return body, exports, err
}

// rewritten is a module that is in no file: what it imports from joined modules comes from theirs.
func rewritten(name string, text []byte, in map[string]string) ([]byte, error) {
	return each(name, text, func(groups []string) string {
		kind, given, list, address := groups[1], groups[2], groups[3], groups[4]
		from := path.Join(path.Dir(name), address)
		if kind == "" || in[from] == "" {
			return groups[0]
		}
		imported := fmt.Sprintf("import {%s} from \"%s\";\n", variable(from), between(name, in[from]))
		if kind == "import" {
			return imported + destructured(given, list) + "=" + variable(from) + ";"
		}
		exports := map[string]string{}
		for _, n := range namesIn(list) {
			exports[n.as] = n.name
		}
		return imported + exported(variable(from), exports)
	})
}

// facade is a joined module at its own address.
func facade(name, file string, exports map[string]string) []byte {
	names := map[string]string{}
	for as := range exports {
		names[as] = as
	}
	own := variable(name)
	return fmt.Appendf(nil, "import {%s} from \"%s\";\n%s", own, between(name, file), exported(own, names))
}

// exported exports members of a variable, by their names and what they are exported as.
func exported(from string, exports map[string]string) string {
	var text strings.Builder
	var names []string
	for _, as := range slices.Sorted(maps.Keys(exports)) {
		if as == "default" {
			fmt.Fprintf(&text, "export default %s.%s;\n", from, exports[as])
		} else {
			names = append(names, member(exports[as], as))
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(&text, "export const {%s}=%s;\n", strings.Join(names, ","), from)
	}
	return text.String()
}

// header imports what the modules of a file import from elsewhere.
func (m modules) header(file string, in map[string]string) []byte {
	joined, single := map[string][]string{}, []string{}
	for name, its := range in {
		for _, from := range m.imports[name] {
			switch {
			case its != file || in[from] == file:
			case in[from] == "":
				single = append(single, from)
			default:
				joined[in[from]] = append(joined[in[from]], variable(from))
			}
		}
	}
	var text []byte
	for _, from := range slices.Compact(slices.Sorted(slices.Values(single))) {
		text = fmt.Appendf(text, "import * as %s from \"%s\";\n", variable(from), between(file, from))
	}
	for _, from := range slices.Sorted(maps.Keys(joined)) {
		names := slices.Compact(slices.Sorted(slices.Values(joined[from])))
		text = fmt.Appendf(text, "import {%s} from \"%s\";\n", strings.Join(names, ","), between(file, from))
	}
	return text
}

// renamed is a name in a list of imports or exports.
type renamed struct{ name, as string }

func namesIn(list string) (names []renamed) {
	for one := range strings.SplitSeq(list, ",") {
		name, as, is := strings.Cut(strings.TrimSpace(one), " as ")
		if !is {
			as = name
		}
		if name != "" {
			names = append(names, renamed{name, as})
		}
	}
	return names
}

// destructured declares what an import of a default or of a list declares.
func destructured(given, list string) string {
	if given != "" {
		return "const {default:" + given + "}"
	}
	var members []string
	for _, n := range namesIn(list) {
		members = append(members, member(n.name, n.as))
	}
	return "const {" + strings.Join(members, ",") + "}"
}

// member is one of an object literal, or of a pattern.
func member(key, value string) string {
	if key == value {
		return key
	}
	return key + ":" + value
}

// between is the address of one asset in another.
func between(from, to string) string {
	if path.Dir(from) == path.Dir(to) {
		return "./" + path.Base(to)
	}
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

var unnamed = strings.NewReplacer("/", "_", "-", "_", ".js", "")

// variable is the name of a module in the file that it is in.
func variable(module string) string { return unnamed.Replace(module) }
