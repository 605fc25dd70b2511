package tool

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"diagnostics/gateway/internal/fault"
)

func options(t *testing.T, body string) Options {
	t.Helper()
	var o Options
	if err := json.Unmarshal([]byte(body), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOptionString(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		value   string
		present bool
	}{
		`{}`: {}, `null`: {}, `{"x":null}`: {}, `{"y":"z"}`: {}, `{"x":"a"}`: {"a", true}, `{"x":""}`: {"", true}, `{"x":"\u00e9"}`: {"é", true}, `{"y":1,"x":"a"}`: {"a", true},
	} {
		value, present, err := options(t, body).String("x", "a word")
		if err != nil || value != want.value || present != want.present {
			t.Errorf("%s: %q, %t, %v; want %+v", body, value, present, err, want)
		}
	}
	for _, body := range []string{`{"x":1}`, `{"x":true}`, `{"x":[]}`, `{"x":["a"]}`, `{"x":{}}`} {
		value, present, err := options(t, body).String("x", "a word")
		if !fault.Is(err, fault.Invalid) || value != "" || present {
			t.Errorf("%s: %q, %t, %v; want Invalid", body, value, present, err)
		}
	}
	if _, present, err := Options(nil).String("x", "a word"); present || err != nil {
		t.Errorf("no options: %t, %v", present, err)
	}
}

func TestOptionOneOf(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{`{}`: "A", `{"x":null}`: "A", `{"x":"A"}`: "A", `{"x":"MX"}`: "MX"} {
		if got, err := options(t, body).OneOf("x", "A", "A", "MX"); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", body, got, err, want)
		}
	}
	for _, body := range []string{`{"x":""}`, `{"x":"a"}`, `{"x":" A"}`, `{"x":"SRV"}`, `{"x":1}`} {
		got, err := options(t, body).OneOf("x", "A", "A", "MX")
		if !fault.Is(err, fault.Invalid) || got != "" {
			t.Errorf("%s: %q, %v; want Invalid", body, got, err)
		}
	}
	_, err := options(t, `{"x":"SRV"}`).OneOf("x", "A", "A", "MX")
	var f *fault.Error
	if !errors.As(err, &f) || !strings.Contains(f.Sentence, "A, MX") || f.Option != "x" {
		t.Errorf("%#v does not name what is allowed, or where", err)
	}
	if _, _, err := options(t, `{"x":1}`).String("x", "a word"); !errors.As(err, &f) || f.Option != "x" {
		t.Errorf("%#v does not name the option", err)
	}
	if _, err := options(t, `{"x":1}`).OneOf("x", "A", "A", "MX"); err == nil || !strings.Contains(err.Error(), "A, MX") {
		t.Errorf("%v does not name what is allowed in place of another type", err)
	}
}

func TestOptionPort(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		value   uint16
		present bool
	}{
		`{}`: {}, `{"x":null}`: {}, `{"x":1}`: {1, true}, `{"x":65535}`: {65535, true},
	} {
		value, present, err := options(t, body).Port("x")
		if err != nil || value != want.value || present != want.present {
			t.Errorf("%s: %d, %t, %v; want %+v", body, value, present, err, want)
		}
	}
	for _, body := range []string{
		`{"x":0}`, `{"x":65536}`, `{"x":-1}`, `{"x":1.5}`, `{"x":"1"}`, `{"x":true}`, `{"x":[1]}`, `{"x":1e30}`,
	} {
		value, present, err := options(t, body).Port("x")
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Option != "x" || value != 0 || present ||
			!strings.Contains(f.Sentence, "from 1 to 65535") {
			t.Errorf("%s: %d, %t, %v; want Invalid", body, value, present, err)
		}
	}
}
