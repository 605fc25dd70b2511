package settings

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretsPrintThemselvesRedacted(t *testing.T) {
	t.Parallel()
	type hidden struct{ secret Secret }
	type owner struct{ Secret }
	s := NewSecret("hunter2")
	values := []any{s, &s, hidden{s}, owner{s}, []Secret{s}, map[string]Secret{"a": s}, []any{s, owner{s}}}
	var out strings.Builder
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(text)
		for _, handler := range []slog.Handler{slog.NewJSONHandler(&out, nil), slog.NewTextHandler(&out, nil)} {
			slog.New(handler).Info("x", "value", v)
		}
	}
	fmt.Fprintln(&out, s.String(), s)
	for _, form := range []string{"hunter2", fmt.Sprintf("%x", "hunter2"), fmt.Sprintf("%X", "hunter2")} {
		if strings.Contains(out.String(), form) {
			t.Errorf("printed as %q: %s", form, out.String())
		}
	}
	if !strings.Contains(out.String(), "[redacted]") {
		t.Error("nothing was printed at all")
	}
}

func TestReveal(t *testing.T) {
	t.Parallel()
	var decoded Secret
	if err := decoded.Decode("hunter2"); err != nil || decoded.Reveal() != "hunter2" || decoded.IsZero() {
		t.Errorf("%q, %v", decoded.Reveal(), err)
	}
	if none := (Secret{}); none.Reveal() != "" || !none.IsZero() {
		t.Error("a secret out of nothing")
	}
}
