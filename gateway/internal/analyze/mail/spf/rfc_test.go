package spf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"diagnostics/gateway/internal/analyze/mail/mailtest"

	"github.com/oasdiff/yaml"
)

// suite is a scenario of testdata/rfc7208, the test suite of the SPF project, under the licence beside it.
type suite struct {
	Description string
	Tests       map[string]struct {
		MailFrom string
		Result   texts
	}
	ZoneData map[string][]any
}

// texts is one string or several.
type texts []string

func (l *texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = texts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}

func suites(t *testing.T) []suite {
	t.Helper()
	file, err := os.ReadFile("testdata/rfc7208/rfc7208-tests.yml")
	if err != nil {
		t.Fatal(err)
	}
	var list []suite
	for i, document := range bytes.Split(file, []byte("\n---\n"))[1:] {
		var s suite
		if _, err := yaml.Unmarshal(document, &s, yaml.DecodeOpts{}); err != nil {
			t.Fatalf("scenario %d: %v", i, err)
		}
		list = append(list, s)
	}
	return list
}

// zone has the records of the suite, of which those of type SPF stand for TXT where a name has none of these.
func (s suite) zone() *zone {
	z := &zone{txt: map[string][]string{}, mx: map[string][]string{}, ip: map[string][]string{}}
	for name, records := range s.ZoneData {
		name = strings.ToLower(name)
		var spf, txt []string
		for _, record := range records {
			for kind, value := range record.(map[string]any) {
				switch kind {
				case "SPF":
					spf = append(spf, joined(value))
				case "TXT":
					txt = append(txt, joined(value))
				case "MX":
					z.mx[name] = append(z.mx[name], fmt.Sprint(value.([]any)[1]))
				case "A", "AAAA":
					z.ip[name] = append(z.ip[name], fmt.Sprint(value))
				case "TIMEOUT":
					failed := []string{"!ETIMEOUT"}
					z.txt[name], z.mx[name], z.ip[name] = failed, failed, failed
				}
			}
		}
		if txt == nil {
			txt = spf
		}
		if txt != nil && !slices.Contains(txt, "NONE") {
			z.txt[name] = append(z.txt[name], txt...)
		}
	}
	s.follow(z)
	return z
}

// follow copies what aliases lead to.
func (s suite) follow(z *zone) {
	for name, records := range s.ZoneData {
		for _, record := range records {
			if to, is := record.(map[string]any)["CNAME"].(string); is {
				for _, m := range []map[string][]string{z.txt, z.mx, z.ip} {
					m[name] = m[to]
				}
			}
		}
	}
}

func joined(value any) string {
	parts, several := value.([]any)
	if !several {
		return fmt.Sprint(value)
	}
	var b strings.Builder
	for _, part := range parts {
		fmt.Fprint(&b, part)
	}
	return b.String()
}

// TestRFC7208 holds what the walk says of the suite's records against the results that a receiver must come to: an
// error of the record is a fail, and nothing else is. A walk judges every term, a receiver those up to the first that
// matches.
func TestRFC7208(t *testing.T) {
	t.Parallel()
	held := 0
	for _, s := range suites(t) {
		z := s.zone()
		for name, c := range s.Tests {
			_, domain, _ := strings.Cut(c.MailFrom, "@")
			domain = strings.ToLower(domain)
			// The tool takes no domain that cannot exist. One record is at the limit for senders that match early alone.
			if !canBeName(domain) || !isPublic(domain) || name == "include-at-limit" {
				continue
			}
			held++
			report := Check(t.Context(), z, domain)
			faults := slices.DeleteFunc(mailtest.Codes(report.Issues), func(code string) bool {
				return !slices.Contains(permanent, code)
			})
			must := slices.Equal(c.Result, texts{"permerror"})
			if may := slices.Contains(c.Result, "permerror"); len(faults) > 0 && !may || len(faults) == 0 && must {
				t.Errorf("%s, %s: %v, and a receiver comes to %v: %q", s.Description, name, faults, c.Result, z.txt[domain])
			}
			if none := slices.Contains(c.Result, "none"); report.Found == none && !report.Failed {
				t.Errorf("%s, %s: found %t, and a receiver comes to %v", s.Description, name, report.Found, c.Result)
			}
		}
	}
	if held != suiteCases {
		t.Errorf("%d cases of the suite were tried, not %d", held, suiteCases)
	}
}

// permanent are the codes of what makes a receiver come to permerror.
var permanent = []string{
	"SPF_LOOP", "SPF_MODIFIER_TWICE", "SPF_NAME_INVALID", "SPF_NOT_ASCII", "SPF_RECORD_UNREADABLE",
	"SPF_REDIRECT_NAME_INVALID", "SPF_REDIRECT_NOT_PUBLIC", "SPF_REDIRECT_WITHOUT_RECORD", "SPF_SEVERAL_RECORDS",
	"SPF_SYNTAX", "SPF_TARGET_NOT_PUBLIC", "SPF_TARGET_WITHOUT_RECORD", "SPF_TOO_MANY_EXCHANGES", "SPF_TOO_MANY_LOOKUPS",
	"SPF_TOO_MANY_TERMS", "SPF_TOO_MANY_VOID_LOOKUPS",
}

// suiteCases are those of the suite's 203 whose sender has a domain that can exist.
const suiteCases = 196
