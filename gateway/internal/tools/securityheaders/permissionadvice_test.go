package securityheaders

import (
	"fmt"
	"strings"
	"testing"

	"diagnostics/gateway/internal/tools/internal/toolstest"
)

func permissionsOf(t *testing.T, value string) controlResult {
	t.Helper()
	return controlOf(t, controlsOf(t, answerTo(t, "https://example.com/", 200, "Permissions-Policy: "+value)),
		"permissions-policy")
}

// The advice for a header too long to be repeated is what to add, and no line that would lose what is there.
func TestPermissionsTooLongToRepeat(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "nonsense-%d=(), ", i)
	}
	got := permissionsOf(t, b.String()+"camera=*")
	want := "Correct what is named above and keep the rest; what most sites can add: camera=(), microphone=(), " +
		"geolocation=(), payment=(), usb=()"
	if got.Set != nil || toolstest.Text(got.Recommendation) != want {
		t.Errorf("%+v, %s", got.Set, toolstest.Text(got.Recommendation))
	}
}

// FuzzPermissionsAdvice holds that the line that is recommended leaves nothing to recommend.
func FuzzPermissionsAdvice(f *testing.F) {
	for _, s := range []string{
		`camera=(self "https://a.example.com");report-to=x, usb=*`, "camera 'none'; geolocation 'self' https://a.example.com",
		"camera=none, fullscreen=(https://a.example.com/ self)", "camera=(),", "a=1, b=?0, c=@1, usb=src", "", "usb=(((",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		first := permissionsOf(t, value)
		if first.Set == nil {
			return
		}
		if again := permissionsOf(t, first.Set.Value); again.Status != controlPass || again.Recommendation != nil {
			t.Fatalf("%q: %q is recommended, and of that is said: %+v %s", value, first.Set.Value, again,
				toolstest.Text(again.Recommendation))
		}
	})
}
