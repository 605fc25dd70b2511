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

var text = Option{Name: "x", Allowed: "a word", MaxLength: 3}

func TestOptionText(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		value   string
		present bool
	}{
		`{}`: {}, `null`: {}, `{"x":null}`: {}, `{"y":"z"}`: {}, `{"x":"a"}`: {"a", true}, `{"x":""}`: {"", true}, `{"x":"\u00e9"}`: {"é", true}, `{"y":1,"x":"a"}`: {"a", true}, `{"x":"äöü"}`: {"äöü", true},
	} {
		value, present, err := text.Text(options(t, body))
		if err != nil || value != want.value || present != want.present {
			t.Errorf("%s: %q, %t, %v; want %+v", body, value, present, err, want)
		}
	}
	for _, body := range []string{`{"x":1}`, `{"x":true}`, `{"x":[]}`, `{"x":["a"]}`, `{"x":{}}`, `{"x":"abcd"}`} {
		value, present, err := text.Text(options(t, body))
		if !fault.Is(err, fault.Invalid) || value != "" || present {
			t.Errorf("%s: %q, %t, %v; want Invalid", body, value, present, err)
		}
	}
	if _, present, err := text.Text(nil); present || err != nil {
		t.Errorf("no options: %t, %v", present, err)
	}
}

var choice = Option{Name: "x", Values: []string{"A", "MX"}, Default: "A"}

func TestOptionChoice(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{`{}`: "A", `{"x":null}`: "A", `{"x":"A"}`: "A", `{"x":"MX"}`: "MX"} {
		if got, err := choice.Choice(options(t, body)); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", body, got, err, want)
		}
	}
	for _, body := range []string{`{"x":""}`, `{"x":"a"}`, `{"x":" A"}`, `{"x":"SRV"}`, `{"x":1}`} {
		got, err := choice.Choice(options(t, body))
		if !fault.Is(err, fault.Invalid) || got != "" {
			t.Errorf("%s: %q, %v; want Invalid", body, got, err)
		}
	}
	_, err := choice.Choice(options(t, `{"x":"SRV"}`))
	var f *fault.Error
	if !errors.As(err, &f) || !strings.Contains(f.Sentence(), "A, MX") || f.Option != "x" {
		t.Errorf("%#v does not name what is allowed, or where", err)
	}
	if _, _, err := text.Text(options(t, `{"x":1}`)); !errors.As(err, &f) || f.Option != "x" {
		t.Errorf("%#v does not name the option", err)
	}
	if _, err := choice.Choice(options(t, `{"x":1}`)); err == nil || !strings.Contains(err.Error(), "A, MX") {
		t.Errorf("%v does not name what is allowed in place of another type", err)
	}
}

var number = Option{Name: "x", Min: 1, Max: 65535}

func TestOptionNumber(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		value   int
		present bool
	}{
		`{}`: {}, `{"x":null}`: {}, `{"x":1}`: {1, true}, `{"x":65535}`: {65535, true},
	} {
		value, present, err := number.Number(options(t, body))
		if err != nil || value != want.value || present != want.present {
			t.Errorf("%s: %d, %t, %v; want %+v", body, value, present, err, want)
		}
	}
	for _, body := range []string{
		`{"x":0}`, `{"x":65536}`, `{"x":-1}`, `{"x":1.5}`, `{"x":"1"}`, `{"x":true}`, `{"x":[1]}`, `{"x":1e30}`,
	} {
		value, present, err := number.Number(options(t, body))
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Option != "x" || value != 0 || present ||
			!strings.Contains(f.Sentence(), "from 1 to 65535") {
			t.Errorf("%s: %d, %t, %v; want Invalid", body, value, present, err)
		}
	}
}

var flag = Option{Name: "x", Bool: true}

func TestOptionFlag(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{}`: false, `null`: false, `{"x":null}`: false, `{"x":false}`: false, `{"x":true}`: true,
	} {
		if got, err := flag.Flag(options(t, body)); err != nil || got != want {
			t.Errorf("%s: %t, %v; want %t", body, got, err, want)
		}
	}
	for _, body := range []string{`{"x":1}`, `{"x":0}`, `{"x":"true"}`, `{"x":""}`, `{"x":[true]}`, `{"x":{}}`} {
		got, err := flag.Flag(options(t, body))
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Option != "x" || got ||
			!strings.Contains(f.Sentence(), "true or false") {
			t.Errorf("%s: %t, %v; want Invalid", body, got, err)
		}
	}
}
