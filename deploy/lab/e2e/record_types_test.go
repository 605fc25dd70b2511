//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"diagnostics/lab"
)

// recordTypes are those of dns-lookup whose data is compared with dig's as a text, and whether dig writes hexadecimal
// in them, in capitals, or names with the dot of the root.
var recordTypes = map[string]struct{ hex, names bool }{
	"A": {}, "AAAA": {}, "NS": {names: true}, "PTR": {names: true}, "CAA": {}, "SRV": {names: true}, "HTTPS": {names: true},
	"SVCB": {names: true}, "DS": {hex: true}, "DNSKEY": {}, "TLSA": {hex: true}, "NAPTR": {names: true}, "SSHFP": {hex: true}, "URI": {},
	"LOC": {}, "HINFO": {},
}

// rootDot is the dot at the end of a name that is not the root's own.
var rootDot = regexp.MustCompile(`([^ \\])\.( |$)`)

// TestRecordTypesBesideDig: what dns-lookup tells of each type as a text is what dig prints, but for the dot at the end
// of names and the case of hexadecimal.
func TestRecordTypesBesideDig(t *testing.T) {
	t.Parallel()
	a := call(t, "dns-lookup", lab.TypesName, map[string]any{"types": "all"})
	if a.Status != 200 {
		t.Fatalf("status %d: %s", a.Status, a.Body)
	}
	for kind, how := range recordTypes {
		want := digs(t, kind)
		for i, line := range want {
			if how.hex {
				line = strings.ToLower(line)
			}
			if how.names {
				line = rootDot.ReplaceAllString(line, "$1$2")
			}
			want[i] = line
		}
		got := textsOf(t, a, kind)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s\nours %q\ndig  %q", kind, got, want)
		}
	}
	holdKeyTags(t, a)
}

// digs are the lines that dig prints of a type.
func digs(t *testing.T, kind string) []string {
	t.Helper()
	out, err := internet.Exec(t.Context(), lab.ServiceHost, "dig", "@"+internet.Resolver().String(), "+short", "+nosplit",
		lab.TypesName, kind)
	if err != nil {
		t.Fatalf("dig %s: %v: %s", kind, err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// textsOf are our records of a type: texts, or objects with one.
func textsOf(t *testing.T, a answer, kind string) (texts []string) {
	t.Helper()
	list, _ := a.at("records." + kind).([]any)
	for _, one := range list {
		switch value := one.(type) {
		case string:
			texts = append(texts, value)
		case map[string]any:
			text, _ := value["text"].(string)
			texts = append(texts, text)
		}
	}
	return texts
}

// holdKeyTags asks dig for the tags of keys, which it prints as comments.
func holdKeyTags(t *testing.T, a answer) {
	t.Helper()
	out, err := internet.Exec(t.Context(), lab.ServiceHost, "dig", "@"+internet.Resolver().String(), "+noall", "+answer",
		"+rrcomments", "+nosplit", lab.TypesName, "DNSKEY")
	if err != nil {
		t.Fatalf("dig: %v", err)
	}
	keys, _ := a.at("records.DNSKEY").([]any)
	for _, one := range keys {
		key := one.(map[string]any)
		said := fmt.Sprintf("key id = %v\n", key["keyTag"])
		line := regexp.MustCompile(fmt.Sprintf(`DNSKEY\t%v 3 %v .*\n`, key["flags"], key["algorithm"])).FindString(string(out))
		if !strings.HasSuffix(line, said) {
			t.Errorf("the tag is %v, and dig says %s", key["keyTag"], line)
		}
	}
	if len(keys) != 2 {
		t.Errorf("%d keys", len(keys))
	}
}

// ofNode asks Node's dns module for all types that every version knows.
const ofNode = `
const { Resolver } = require("node:dns").promises;
const kinds = ["A", "AAAA", "MX", "TXT", "NS", "SOA", "CAA", "SRV", "NAPTR", "PTR"];
(async () => {
  const of = {}, resolver = new Resolver();
  resolver.setServers([process.argv[2]]);
  for (const kind of kinds) {
    try { of[kind] = await resolver.resolve(process.argv[1], kind); } catch (e) { of[kind] = e.code; }
  }
  console.log(JSON.stringify(of));
})();`

// TestRecordTypesBesideNode: the values have what those of Node's dns module have, in its words where the contract has
// them.
func TestRecordTypesBesideNode(t *testing.T) {
	t.Parallel()
	a := call(t, "dns-lookup", lab.TypesName, map[string]any{"types": "all"})
	out, err := internet.Exec(t.Context(), lab.ServiceHost, "node", "-e", ofNode, lab.TypesName,
		internet.Resolver().String())
	if err != nil {
		t.Fatalf("node: %v: %s", err, out)
	}
	var node map[string]any
	if err := json.Unmarshal(out, &node); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rename := map[string]map[string]string{"SRV": {"target": "name"}}
	for _, kind := range []string{"A", "AAAA", "NS", "PTR", "MX", "SRV", "NAPTR"} {
		holdSame(t, kind, valuesOf(a, kind, rename[kind]), linesOf(node[kind]))
	}
	soa := valuesOf(a, "SOA", nil)
	holdSame(t, "SOA", soa, linesOf([]any{node["SOA"]}))
	if !strings.Contains(strings.Join(soa, ""), `host\\.master.lab-dns.com`) {
		t.Errorf("the dot within a label of the mailbox: %s", soa)
	}
	// Node names the value of a CAA record by its tag, and gives a TXT record as a list of chunks.
	var caa []string
	list, _ := a.at("records.CAA").([]any)
	for _, one := range list {
		r := one.(map[string]any)
		caa = append(caa, lineOf(map[string]any{"critical": r["flags"], fmt.Sprint(r["tag"]): r["value"]}))
	}
	holdSame(t, "CAA", caa, linesOf(node["CAA"]))
	holdSame(t, "TXT", valuesOf(a, "TXT", nil), linesOf(node["TXT"].([]any)[0]))
}

// valuesOf are our records of a type without their texts, with the keys renamed.
func valuesOf(a answer, kind string, rename map[string]string) (lines []string) {
	list, _ := a.at("records." + kind).([]any)
	for _, one := range list {
		if r, is := one.(map[string]any); is {
			renamed := map[string]any{}
			for key, value := range r {
				if to, ok := rename[key]; ok {
					key = to
				}
				if key != "text" {
					renamed[key] = value
				}
			}
			one = renamed
		}
		lines = append(lines, lineOf(one))
	}
	return lines
}

func linesOf(v any) (lines []string) {
	list, _ := v.([]any)
	for _, one := range list {
		lines = append(lines, lineOf(one))
	}
	return lines
}

func lineOf(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func holdSame(t *testing.T, kind string, ours, theirs []string) {
	t.Helper()
	slices.Sort(ours)
	slices.Sort(theirs)
	if len(ours) == 0 || !slices.Equal(ours, theirs) {
		t.Errorf("%s\nours %s\nNode %s", kind, ours, theirs)
	}
}
