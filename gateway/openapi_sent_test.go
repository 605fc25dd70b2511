package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"diagnostics/gateway/internal/apidoc/openapi"
)

// The states of conclusions, and the severities, groups and weights of findings, that the lab's recorded answers have
// are those that the description publishes for the tool.
func TestOpenAPIPublishesWhatIsSent(t *testing.T) {
	t.Parallel()
	document, err := openapi.Document(registry())
	if err != nil {
		t.Fatal(err)
	}
	published := map[string]string{} // the schemas of a tool's conclusion and findings, a line each
	for _, one := range registry() {
		name := "    " + openapi.ResultName(one.Slug())
		for line := range strings.Lines(document) {
			if strings.HasPrefix(line, name+"Conclusion: ") || strings.HasPrefix(line, name+"Findings: ") {
				published[one.Slug()] += line
			}
		}
	}
	paths, err := filepath.Glob("../deploy/lab/e2e/testdata/golden/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for answer := range strings.SplitSeq(string(text), "\nPOST ") {
			var envelope struct{ Data any }
			request, body, _ := strings.Cut(strings.TrimPrefix(answer, "POST "), "\n{")
			if json.NewDecoder(strings.NewReader("{"+body)).Decode(&envelope) != nil {
				continue
			}
			slug, _, _ := strings.Cut(strings.TrimPrefix(request, "/api/tools/"), " ")
			for _, judged := range judgements(envelope.Data) {
				sent++
				if !strings.Contains(published[slug], "`"+judged+")") {
					t.Errorf("%s: %s sent %s, which the description does not have", filepath.Base(path), slug, judged)
				}
			}
		}
	}
	if sent < 500 {
		t.Errorf("only %d conclusions and findings were found", sent)
	}
}

// A code has one state, one severity, one group and one weight, whichever tool reports it.
func TestOneVerdictForACode(t *testing.T) {
	t.Parallel()
	first := map[string]string{}
	for _, one := range registry() {
		for code, row := range one.Findings() {
			for as, judged := range map[string]string{
				"conclusion": string(row.State),
				"finding":    fmt.Sprintf("%s %s %d", row.Severity, row.Group, row.Weight),
			} {
				if as == "conclusion" && row.State == "" || as == "finding" && row.Severity == "" {
					continue
				}
				if before := cmp.Or(first[as+code], judged); before != judged {
					t.Errorf("%s: the %s %s is %s, and %s elsewhere", one.Slug(), as, code, judged, before)
				}
				first[as+code] = judged
			}
		}
	}
}

// judgements returns the conclusions and findings in a value, as the description writes them.
func judgements(value any) (found []string) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			found = append(found, judgements(element)...)
		}
	case map[string]any:
		if _, is := v["brief"]; is && v["state"] != nil {
			found = append(found, fmt.Sprintf("%s` (%s", v["code"], v["state"]))
		}
		if v["group"] != nil && v["weight"] != nil {
			found = append(found, fmt.Sprintf("%s` (%s, %s, %.0f", v["code"], v["severity"], v["group"], v["weight"]))
		}
		for _, element := range v {
			found = append(found, judgements(element)...)
		}
	}
	return found
}
