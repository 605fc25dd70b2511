package target

import "testing"

func TestParseOperatorURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct{ url, authority, below string }{
		"https://rdap.org":              {"https://rdap.org/", "rdap.org:443", "https://rdap.org/domain/a%20b"},
		"https://RDAP.org./":            {"https://rdap.org/", "rdap.org:443", "https://rdap.org/domain/a%20b"},
		"https://rdap.internal:8443/v1": {"https://rdap.internal:8443/v1", "rdap.internal:8443", "https://rdap.internal:8443/v1/domain/a%20b"},
		"https://rdap/v1//":             {"https://rdap/v1", "rdap:443", "https://rdap/v1/domain/a%20b"},
		"http://10.0.0.5":               {"http://10.0.0.5/", "10.0.0.5:80", "http://10.0.0.5/domain/a%20b"},
		"https://[fd00::1]:8443":        {"https://[fd00::1]:8443/", "[fd00::1]:8443", "https://[fd00::1]:8443/domain/a%20b"},
		"https://localhost:1":           {"https://localhost:1/", "localhost:1", "https://localhost:1/domain/a%20b"},
		"https://bücher.internal":       {"https://xn--bcher-kva.internal/", "xn--bcher-kva.internal:443", "https://xn--bcher-kva.internal/domain/a%20b"},
	} {
		u, err := ParseOperatorURL(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		below := u.Append("domain", "a b").String()
		if u.String() != want.url || u.Authority() != want.authority || below != want.below {
			t.Errorf("%s: %s, %s, %s; want %+v", in, u, u.Authority(), below, want)
		}
	}
}

func TestParseOperatorURLRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", "rdap.org", "ftp://rdap.org", "https://", "https:rdap.org", "https://u@rdap.org", "https://rdap.org?x", "https://rdap.org?",
		"https://rdap.org#x", "https://rdap.org:0", "https://rdap.org:65536", "https://rd ap.org", "https://rd_ap.org", "https://%zz", "/x",
	} {
		if u, err := ParseOperatorURL(in); err == nil {
			t.Errorf("%q gives %s", in, u)
		}
	}
}
