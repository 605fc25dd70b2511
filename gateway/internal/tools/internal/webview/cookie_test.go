package webview

import (
	"strings"
	"testing"
)

func TestMaskCookie(t *testing.T) {
	t.Parallel()
	cases := []struct{ header, want string }{
		{"sid=secret", "sid=***"},
		{"sid=secret; Path=/; HttpOnly; Secure; SameSite=Lax", "sid=***; Path=/; HttpOnly; Secure; SameSite=Lax"},
		{"sid=secret;Path=/;HttpOnly", "sid=***; Path=/; HttpOnly"},
		{" sid = secret ; path = / ", "sid=***; path = /"},
		{"sid=", "sid=***"},
		{"sid=a=b=c; Max-Age=60", "sid=***; Max-Age=60"},
		{"__Host-sid=secret; Secure; Path=/; Partitioned; Priority=High", "__Host-sid=***; Secure; Path=/; Partitioned; Priority=High"},
		{"sid=secret; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Domain=example.com", "sid=***; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Domain=example.com"},
		{`sid="secret"; Path=/`, "sid=***; Path=/"},
		{`sid="se;cret"; Path=/`, "sid=***; Path=/"},
		{`sid= "se;cret" ; Path=/`, "sid=***; Path=/"},
		{`sid="se;cret; Path=/`, "sid=***; ***; Path=/"},
		{"secret", "***"},
		{"=secret", "***"},
		{"secret; Path=/", "***; Path=/"},
		{"secret;Path=/;a=b", "***; Path=/; ***"},
		{"sid=secret; more", "sid=***; ***"},
		{"sid=secret; Comment=secret", "sid=***; ***"},
		{"sid=secret; Path=/, other=secret; Path=/", "sid=***; Path=***; Path=/"},
		{"sid=secret; Secure, other=secret", "sid=***; ***"},
		{"sid=secret; Expires=Wed, 21 Oct 2026 07:28:00 GMT, other=secret", "sid=***; Expires=***"},
		{"sid=secret; Expires=Thu, other=secret", "sid=***; Expires=***"},
		{"sid=secret; Version=1; Discard", "sid=***; Version=1; Discard"},
		{"", "***"},
		{";", "***"},
		{";Path=/", "***; Path=/"},
		{"sid=secret;", "sid=***"},
		{"sid=secret; ; Path=/", "sid=***; ***; Path=/"},
	}
	for _, c := range cases {
		t.Run(c.header, func(t *testing.T) {
			t.Parallel()
			if got := maskCookie(c.header); got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzMaskCookie checks that nothing of a value is shown, wherever in it semicolons, quotes, commas and equals signs
// stand, and that masking twice changes nothing.
func FuzzMaskCookie(f *testing.F) {
	f.Add("sid", "", "", "; Path=/; Secure")
	f.Add("sid", `"`, `"`, "; Path=/")
	f.Add("sid", `"a;b`, `;c"`, "; Expires=Wed, 21 Oct 2026 07:28:00 GMT")
	f.Add("", "a=", ",b=", "; Path=/, c=d")
	f.Fuzz(func(t *testing.T, name, before, after, rest string) {
		const secret = "S3CR3T"
		if strings.Contains(name, "=") || strings.Contains(name, ";") || strings.Contains(name+before+after+rest, secret) {
			return
		}
		// A server that writes an attribute's name right before its secret has published it as that attribute.
		if strings.ContainsAny(before, ";") && !strings.HasPrefix(before, `"`) {
			return
		}
		if strings.HasPrefix(before, `"`) && strings.Contains(before[1:], `"`) {
			return
		}
		header := name + "=" + before + secret + after + rest
		got := maskCookie(header)
		if strings.Contains(got, secret) && !attributeHolds(header, secret) {
			t.Fatalf("%q becomes %q", header, got)
		}
		if again := maskCookie(got); again != got {
			t.Fatalf("%q becomes %q, then %q", header, got, again)
		}
	})
}

// attributeHolds reports whether the text stands in the value of a known attribute, as an unclosed quote makes
// possible.
func attributeHolds(header, text string) bool {
	for part := range strings.SplitSeq(header, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if strings.Contains(value, text) && cookieAttributes[strings.ToLower(strings.TrimSpace(name))] {
			return true
		}
	}
	return false
}
