package web_test

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/web"
)

// few are modules of a site that has all that join asks for, and more.
func few(more map[string]string) map[string][]byte {
	all := map[string][]byte{}
	for name, text := range map[string]string{
		"pages/site.js": `import {el} from "../lib/dom.js";` + "\nel();\n",
		"pages/tool.js": `import {view} from "../lib/view.js";` + "\nview();\n",
		"pages/report.js": `import {view as shown} from "../lib/view.js";` + "\n" + `import {el} from "../lib/dom.js";` +
			"\nshown(el);\n",
		"lib/dom.js":    "export const el=1;\n",
		"lib/view.js":   `import {el as e} from "./dom.js";` + "\nexport function view(){return e}\n",
		"lib/judges.js": `import ping from "../tools/ping/facts.js";` + "\nexport default {ping};\n",
		"lib/answer.js": "export class Answer{}\nexport async function draw(){}\n",
		"lib/report-parts.js": `export {view,view as again} from "./view.js";` + "\n" +
			`export {Answer} from "./answer.js";` + "\n",
		"lib/places.js":       `import {Answer} from "./answer.js";` + "\nexport const places=[Answer];\n",
		"pages/connection.js": `import {echo} from "../lib/echo.js";` + "\necho();\n",
		"lib/echo.js":         "export const echo=()=>{};\n",
		"tools/ping/facts.js": `import {echo} from "../../lib/echo.js";` + "\nexport default {facts:echo};\n",
		"tools/ping/view.js":  `import {rows} from "./rows.js";` + "\nexport default {show:rows};\n",
		"tools/ping/rows.js":  `import {picture} from "../../lib/picture.js";` + "\nexport const rows=()=>picture;\n",
		"lib/picture.js":      "export const picture=1;\n",
	} {
		all[name] = []byte(text)
	}
	for name, text := range more {
		all[name] = []byte(text)
	}
	return all
}

func TestJoin(t *testing.T) {
	t.Parallel()
	served, err := web.Join(few(nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"lib/joined-all.js": "const lib_dom=(()=>{const el=1;\n\nreturn {el};})();\nexport {lib_dom};\n",
		"lib/dom.js":        `import {lib_dom} from "./joined-all.js";` + "\nexport const {el}=lib_dom;\n",
		"pages/site.js":     `import {lib_dom} from "../lib/joined-all.js";` + "\nconst {el}=lib_dom;\nel();\n",
		"lib/joined-pages.js": `import {lib_dom} from "./joined-all.js";` + "\n" +
			"const lib_view=(()=>{const {el:e}=lib_dom;\nfunction view(){return e}\n\nreturn {view};})();\n" +
			"export {lib_view};\n",
		"pages/report.js": `import {lib_view} from "../lib/joined-pages.js";` + "\nconst {view:shown}=lib_view;\n" +
			`import {lib_dom} from "../lib/joined-all.js";` + "\nconst {el}=lib_dom;\nshown(el);\n",
		"lib/joined-judges.js": `import * as lib_echo from "./echo.js";` + "\n" +
			"const tools_ping_facts=(()=>{const {echo}=lib_echo;\nconst standard={facts:echo};\n\n" +
			"return {default:standard};})();\n" +
			"const lib_judges=(()=>{const {default:ping}=tools_ping_facts;\nconst standard={ping};\n\n" +
			"return {default:standard};})();\nexport {tools_ping_facts,lib_judges};\n",
		"lib/judges.js": `import {lib_judges} from "./joined-judges.js";` + "\nexport default lib_judges.default;\n",
		"tools/ping/facts.js": `import {tools_ping_facts} from "../../lib/joined-judges.js";` +
			"\nexport default tools_ping_facts.default;\n",
		"tools/ping/view.js": `import {tools_ping_rows} from "./joined.js";` +
			"\nconst {rows}=tools_ping_rows;\nexport default {show:rows};\n",
		"tools/ping/joined.js": `import * as lib_picture from "../../lib/picture.js";` + "\n" +
			"const tools_ping_rows=(()=>{const {picture}=lib_picture;\nconst rows=()=>picture;\n\n" +
			"return {rows};})();\nexport {tools_ping_rows};\n",
		// A module that a view alone imports is in no file.
		"lib/picture.js": "export const picture=1;\n",
		"lib/joined-report.js": `import {lib_view} from "./joined-pages.js";` + "\n" +
			`import {lib_answer} from "./joined-parts.js";` +
			"\nconst lib_report_parts=(()=>{\n\n\nreturn {Answer:lib_answer.Answer,again:lib_view.view,view:lib_view.view};})();\n" +
			"export {lib_report_parts};\n",
	} {
		if got := string(served[name]); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
		}
	}
	if _, there := served["lib/joined-cards.js"]; there {
		t.Error("a file without modules is served")
	}
}

// Join returns an error for a statement of another form, and for a relative address in a module that moves to another
// folder.
func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	for what, module := range map[string]map[string]string{
		"a name that is assigned again": {"lib/view.js": "export let view;\n"},
		"all names of a module":         {"pages/tool.js": `import * as dom from "../lib/dom.js";` + "\n"},
		"a list of its own":             {"lib/answer.js": "const a=1;\nexport {a};\n"},
		"an import for its effect":      {"lib/view.js": `import "./dom.js";` + "\n"},
		"an address in a moved module":  {"tools/ping/facts.js": `export default import("./rows.js");` + "\n"},
		"its own address":               {"tools/ping/facts.js": "export default {at:import.meta.url};\n"},
	} {
		if _, err := web.Join(few(module)); err == nil {
			t.Errorf("%s is joined", what)
		}
	}
}

var (
	importAt = regexp.MustCompile(`(?m)^import (?:\{([^}]*)\}|\* as (\w+)|(\w+)) from "(\.[^"]+)";$`)
	madeOf   = regexp.MustCompile(`^(?:lib|tools|pages)_`)
)

// Every file that is served is a module, what it imports is exported there, and files do not import each other in a
// circle; none needs the variable of a module that it does not import.
func TestJoinedFilesFitTogether(t *testing.T) {
	t.Parallel()
	served, err := web.Join(bare(t))
	if err != nil {
		t.Fatal(err)
	}
	imports, exports := map[string][]string{}, map[string][]string{}
	for name, text := range served {
		exports[name] = exportsIn(string(text))
	}
	for name, text := range served {
		var given []string
		for _, m := range importAt.FindAllStringSubmatch(string(text), -1) {
			from := path.Join(path.Dir(name), m[4])
			given = append(append(given, m[2], m[3]), strings.Split(m[1], ",")...)
			imports[name] = append(imports[name], from)
			wanted := strings.Split(m[1], ",")
			if m[3] != "" {
				wanted = []string{"default"}
			}
			for _, one := range wanted {
				one, _, _ = strings.Cut(strings.TrimSpace(one), " as ")
				if one != "" && !slices.Contains(exports[from], one) {
					t.Errorf("%s imports %s, which %s does not export", name, one, from)
				}
			}
		}
		for _, v := range parsed(t, name, string(text)).Undeclared { // imports are none of its declarations
			if madeOf.Match(v.Data) && !slices.Contains(given, string(v.Data)) {
				t.Errorf("%s has no %s", name, v.Data)
			}
		}
	}
	if circle := circleIn(imports); circle != nil {
		t.Errorf("files import each other in a circle: %s", strings.Join(circle, " -> "))
	}
	if joined := slices.DeleteFunc(slices.Collect(maps.Keys(served)), func(name string) bool {
		return !strings.HasPrefix(path.Base(name), "joined")
	}); len(joined) < 6 {
		t.Errorf("only %v are joined", joined)
	}
}

var (
	exportOf   = regexp.MustCompile(`(?m)^export (?:(?:async )?(?:function|const|class) (\w+)|(default)\b)`)
	exportList = regexp.MustCompile(`(?m)^export (?:const )?\{([^}]*)\}`)
)

// exportsIn are the names that a served module exports.
func exportsIn(text string) (names []string) {
	for _, m := range exportOf.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1]+m[2])
	}
	for _, m := range exportList.FindAllStringSubmatch(text, -1) {
		for one := range strings.SplitSeq(m[1], ",") {
			fields := strings.FieldsFunc(one, func(r rune) bool { return r == ':' || r == ' ' })
			names = append(names, fmt.Sprint(fields[len(fields)-1]))
		}
	}
	return names
}
