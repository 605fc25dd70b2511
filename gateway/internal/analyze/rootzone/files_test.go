package rootzone

import (
	"errors"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"hints":   ". IN NS ns.root.\nns.root. IN A 10.0.0.1\nns.root. IN AAAA fd00::1\n",
		"anchors": ". IN DS 1 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D\n",
		"broken":  "hello",
	}
	read := func(path string) ([]byte, error) {
		text, ok := files[path]
		if !ok {
			return nil, errors.New("no such file")
		}
		return []byte(text), nil
	}
	for env, c := range map[string]struct {
		servers, exempt, anchors int
		says                     string // of the error
	}{
		"":                                  {13, 0, 2, ""},
		"DNS_ROOT_HINTS_FILE=hints":         {1, 2, 2, ""},
		"DNS_TRUST_ANCHORS_FILE=anchors":    {13, 0, 1, ""},
		"DNS_ROOT_HINTS_FILE=broken":        {0, 0, 0, "DNS_ROOT_HINTS_FILE: broken: "},
		"DNS_ROOT_HINTS_FILE=none":          {0, 0, 0, "DNS_ROOT_HINTS_FILE: none: no such file"},
		"DNS_TRUST_ANCHORS_FILE=hints":      {0, 0, 0, "DNS_TRUST_ANCHORS_FILE: hints: "},
		"DNS_TRUST_ANCHORS_FILE=nowhere":    {0, 0, 0, "no such file"},
		"DNS_ROOT_HINTS_FILE=anchors":       {0, 0, 0, "none of NS, A, AAAA"},
		"DNS_TRUST_ANCHORS_FILE=broken":     {0, 0, 0, "broken"},
		"DNS_ROOT_HINTS_FILE=":              {13, 0, 2, ""},
		"DNS_TRUST_ANCHORS_FILE=":           {13, 0, 2, ""},
		"DNS_ROOT_HINTS_FILE=/dev/null/nay": {0, 0, 0, "no such file"},
	} {
		setting, path, _ := strings.Cut(env, "=")
		paths := map[string]string{setting: path}
		got, err := Read(paths["DNS_ROOT_HINTS_FILE"], paths["DNS_TRUST_ANCHORS_FILE"], read)
		switch {
		case c.says != "":
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", env, err)
			}
		case err != nil, len(got.Hints.Servers) != c.servers, len(got.Exempt) != c.exempt, len(got.Anchors.DS) != c.anchors,
			got.Hints.Source == "", got.Anchors.Source == "":
			t.Errorf("%s: %+v, %v", env, got, err)
		}
	}
}
