package decode

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type inner struct {
	Kind string   `json:"kind" wire:"enum=k"`
	At   *float64 `json:"at,omitempty"`
}

type base struct {
	A string `json:"a"`
}

type all struct {
	base
	Free  *int               `json:"free" wire:"signed"`
	N     *int               `json:"n,omitempty" wire:"min=1 max=9"`
	F     float64            `json:"f,omitempty"`
	B     bool               `json:"b,omitempty"`
	C     bool               `json:"c,omitzero"`
	L     []inner            `json:"l,omitempty" wire:"len=1..2"`
	E     string             `json:"e,omitempty" wire:"enum=x|y"`
	Es    []string           `json:"es,omitempty" wire:"enum=x|y"`
	V     uint8              `json:"v,omitempty" wire:"enum=4|6"`
	M     map[string]*string `json:"m,omitempty" wire:"null"`
	Self  []*all             `json:"self,omitempty"`
	When  time.Time          `json:"when,omitzero"`
	Given json.RawMessage    `json:"given,omitempty"`
	Long  string             `json:"long,omitempty"`

	hidden int
	Not    func() `json:"-"`
}

// Enums implements Enumerated.
func (all) Enums() map[string][]string { return map[string][]string{"long": {"one", "another"}} }

func TestInto(t *testing.T) {
	t.Parallel()
	const rest = `"a":"x","free":null`
	for _, tt := range []struct{ in, want string }{
		{`{` + rest + `}`, ""}, {`{"free":-7,"a":""}`, `{"a":"","free":-7}`},
		{" {\n\"z\" : {\"a\":[1, {}],\"b\":\"}\\\"]\"}\t, \"a\" : \"x\" , \"free\" : null } ", `{` + rest + `}`},
		{`{` + rest + `,"n":1}`, ""}, {`{` + rest + `,"n":9}`, ""}, {`{` + rest + `,"f":1.5e3}`, `{` + rest + `,"f":1500}`},
		{`{` + rest + `,"b":true,"c":true}`, ""},
		{`{` + rest + `,"l":[{"kind":"k","more":1},{"kind":"k","at":0}]}`, `{` + rest + `,"l":[{"kind":"k"},{"kind":"k","at":0}]}`},
		{`{` + rest + `,"e":"y","es":["x","y"],"v":6,"long":"another"}`, ""},
		{`{` + rest + `,"m":{"k":"v","":null}}`, `{` + rest + `,"m":{"":null,"k":"v"}}`},
		{`{` + rest + `,"m":null}`, `{` + rest + `}`}, {`{` + rest + `,"m":{},"es":[ ]}`, `{` + rest + `}`},
		{`{` + rest + `,"self":[{` + rest + `},{` + rest + `}]}`, ""},
		{`{` + rest + `,"when":"2026-07-01T11:00:00Z"}`, ""}, {`{` + rest + `,"given":{"z":[1,2]}}`, ""},
		{`{"\u0061":"\ud83d\ude00 \" \\","free":1}`, `{"a":"😀 \" \\","free":1}`}, {`{` + rest + `,"hidden":1,"Not":2}`, `{` + rest + `}`},
		{"{\"a\":\"\xff\",\"free\":1}", "{\"a\":\"\ufffd\",\"free\":1}"},
		{`{` + rest + `,"deep":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`, `{` + rest + `}`},
	} {
		if tt.want == "" {
			tt.want = tt.in
		}
		var v all
		err := Into([]byte(tt.in), &v)
		got, _ := json.Marshal(v)
		if err != nil || string(got) != tt.want {
			t.Errorf("%.200s: %s, %v; want %s", tt.in, got, err, tt.want)
		}
	}
}

func TestIntoRefuses(t *testing.T) {
	t.Parallel()
	const rest = `{"a":"x","free":null`
	for _, in := range []string{
		``, `null`, `[]`, `"x"`, `7`, `{`, `{}`, `{"a":"x"}`, `{"free":1}`, rest, rest + `}{}`, rest + `}]`,
		`{"a":null,"free":1}`, `{"a":1,"free":1}`, `{"a":["x"],"free":1}`, rest + `,"a":"y"}`, rest + `,"\u0061":"y"}`,
		`{"a":"x","free":"1"}`, `{"a":"x","free":1.5}`, `{"a":"x","free":1e3}`, `{"a":"x","free":99999999999999999999}`,
		rest + `,"n":0}`, rest + `,"n":10}`, rest + `,"n":null}`, rest + `,"n":true}`, rest + `,"n":{}}`,
		rest + `,"f":-1}`, rest + `,"f":1e999}`, rest + `,"f":"1"}`, rest + `,"b":false}`, rest + `,"b":1}`, rest + `,"b":null}`,
		rest + `,"l":[]}`, rest + `,"l":{}}`, rest + `,"l":[{"kind":"k"},{"kind":"k"},{"kind":"k"}]}`, rest + `,"l":[{"kind":"j"}]}`,
		rest + `,"l":[{}]}`, rest + `,"l":[null]}`, rest + `,"l":null}`, rest + `,"l":["kind"]}`, rest + `,"l":[{"kind":"k"},[]]}`,
		rest + `,"e":"z"}`, rest + `,"es":["x","z"]}`, rest + `,"v":5}`, rest + `,"v":260}`, rest + `,"v":-4}`, rest + `,"v":4.0}`,
		rest + `,"m":{"k":1}}`, rest + `,"m":{"k":"v","k":"w"}}`, rest + `,"m":[]}`, rest + `,"self":[{}]}`, rest + `,"when":"x"}`,
		rest + `,"given":null}`, rest + `,"long":"two"}`, rest + `,"a":"` + strings.Repeat("x", 1<<20) + `"}`,
		`{"a":"` + strings.Repeat("x", maxString) + `","free":null}`,
		strings.Repeat(rest+`,"self":[`, 40) + strings.Repeat(`]}`, 40),
		rest + `,"deep":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
	} {
		var v all
		if err := Into([]byte(in), &v); err == nil {
			t.Errorf("%.200s is decoded as %+v", in, v)
		}
	}
}

// hostile are texts of a mebibyte that cost more to read than they should.
func hostile() map[string]string {
	fill := func(head, body, tail string) string {
		return head + strings.Repeat(body, (1<<20-len(head)-len(tail))/len(body)) + tail
	}
	const rest = `{"a":"x","free":1`
	return map[string]string{
		"unknown members":   fill(rest, `,"b1":1`, `}`),
		"unknown lists":     fill(rest+`,"z":[1`, `,[]`, `]}`),
		"one member":        fill(rest, `,"n":1`, `}`),
		"elements":          fill(rest+`,"self":[`+rest+`}`, `,`+rest+`}`, `]}`),
		"empty strings":     fill(rest+`,"es":["x"`, `,""`, `]}`),
		"entries":           fill(rest+`,"m":{"0":null`, `,"1":null`, `}}`),
		"depth":             fill(rest+`,"self":[`, rest+`,"self":[`, ``),
		"a long string":     fill(rest+`,"e":"`, `x`, `"}`),
		"escapes":           fill(rest+`,"long":"`, `\u00e9`, `"}`),
		"a long name":       fill(rest+`,"`, `\u00e9`, `":1}`),
		"unfinished":        fill(rest, `,"b":[`, ``),
		"an unknown string": fill(rest+`,"z":"`, `\\`, `"}`),
	}
}

// What a text costs is bounded by its length, whatever it holds.
func TestHostileTexts(t *testing.T) {
	const rounds = 4
	for name, text := range hostile() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			var v all
			if err := Into([]byte(text), &v); err == nil && name != "an unknown string" {
				t.Errorf("%s: decoded", name)
			}
		}
		runtime.ReadMemStats(&after)
		// A list that grows leaves as much behind as it takes.
		if took := int(after.TotalAlloc-before.TotalAlloc) / rounds; took > 2*Cost(len(text)) {
			t.Errorf("%s: %d bytes are allocated for %d", name, took, len(text))
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var v all
				_ = Into([]byte(text), &v)
			}
		})
	}
}

func TestTypesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for want, to := range map[string]any{
		"chan int": &struct{ C chan int }{}, "stands twice": &struct {
			base
			A string `json:"a"`
		}{}, `"len"`: &struct {
			A []int `wire:"len"`
		}{}, `"most=1"`: &struct {
			A int `wire:"most=1"`
		}{},
	} {
		if err := Into([]byte(`{}`), to); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func FuzzInto(f *testing.F) {
	f.Add([]byte(`{"a":"x","free":1,"l":[{"kind":"k"}],"m":{"k":"v"},"z":[1,{"a":"\\"}],"given":[1]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var v, again all
		if Into(text, &v) != nil {
			return
		}
		clean, err := json.Marshal(v)
		if err == nil {
			err = Into(clean, &again)
		}
		if second, _ := json.Marshal(again); err != nil || string(second) != string(clean) {
			t.Errorf("%q became %q, then %q, %v", text, clean, second, err)
		}
		if fmt.Sprint(v.hidden) != "0" {
			t.Error("a hidden field is set")
		}
	})
}
