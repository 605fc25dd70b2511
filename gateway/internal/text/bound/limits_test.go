package bound

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type leaf struct {
	Name      string  `json:"name" bound:"text=8"`
	Note      *string `json:"note" bound:"text=8"`
	Free      string  `json:"free"`
	Truncated bool    `json:"truncated,omitempty"`
}

type common struct {
	Kind      string `json:"kind" bound:"text=4"`
	Truncated bool   `json:"truncated,omitempty"`
}

type node struct {
	Text      string  `json:"text" bound:"text=4"`
	Children  []*node `json:"children" bound:"count=2 apart"`
	Truncated bool    `json:"truncated,omitempty"`
}

type file struct {
	Lines     []string `json:"lines" bound:"list=10"`
	Truncated bool     `json:"truncated" bound:"apart"`
}

type result struct {
	common
	Leaves  []leaf           `json:"leaves" bound:"count=3 list=120"`
	Texts   []string         `json:"texts" bound:"text=6 list=14"`
	Numbers []float64        `json:"numbers" bound:"list=6"`
	Pointer *leaf            `json:"pointer"`
	Apart   leaf             `json:"apart" bound:"apart"`
	Tree    *node            `json:"tree"`
	File    file             `json:"file"`
	Plain   map[string][]int `json:"plain,omitempty"`
}

func TestEnforce(t *testing.T) {
	t.Parallel()
	limits, long := LimitsOf[result](), "abcdefghijkl"
	for name, c := range map[string]struct {
		in, want string
		cut      bool
	}{
		"nothing to cut": {
			`{"kind":"abcd","leaves":[{"name":"abcdefgh"}],"texts":["abcdef"],"numbers":[1,2,3],"pointer":{"note":"abcdefgh"}}`,
			`{"kind":"abcd","leaves":[{"name":"abcdefgh"}],"texts":["abcdef"],"numbers":[1,2,3],"pointer":{"note":"abcdefgh"}}`,
			false,
		},
		"an embedded text":   {`{"kind":"abcde"}`, `{"kind":"a…","truncated":true}`, true},
		"a list":             {`{"numbers":[1,2,3,4]}`, `{"numbers":[1,2,3],"truncated":true}`, true},
		"a list of texts":    {`{"texts":["abcdefg","b","c"]}`, `{"texts":["abc…","b"],"truncated":true}`, true},
		"equal texts":        {`{"texts":["abcdefg","abcdefh"]}`, `{"texts":["abc…"],"truncated":true}`, true},
		"a count":            {`{"leaves":[{},{},{},{}]}`, `{"leaves":[{},{},{}],"truncated":true}`, true},
		"an element":         {`{"leaves":[{"name":"` + long + `"}]}`, `{"leaves":[{"name":"abcde…","truncated":true}],"truncated":true}`, true},
		"a pointer":          {`{"pointer":{"note":"` + long + `"}}`, `{"pointer":{"note":"abcde…","truncated":true},"truncated":true}`, true},
		"without a bound":    {`{"pointer":{"free":"` + long + `"}}`, `{"pointer":{"free":"` + long + `"}}`, false},
		"marked before":      {`{"pointer":{"truncated":true}}`, `{"pointer":{"truncated":true},"truncated":true}`, true},
		"apart":              {`{"apart":{"name":"` + long + `"}}`, `{"apart":{"name":"abcde…","truncated":true}}`, true},
		"a file cut short":   {`{"file":{"truncated":true}}`, `{"file":{"truncated":true}}`, false},
		"a file with a list": {`{"file":{"lines":["abcdef","g"]}}`, `{"file":{"lines":["abcdef"],"truncated":true},"truncated":true}`, true},
		"a tree": {
			`{"tree":{"text":"abcd","children":[{"text":"abcde","children":null},null,{"text":"z"}]}}`,
			`{"tree":{"text":"abcd","children":[{"text":"a…","children":null,"truncated":true},null]},"truncated":true}`,
			true,
		},
		"a branch": {
			`{"tree":{"text":"abcd","children":[{"children":[{"text":"abcde"}]}]}}`,
			`{"tree":{"text":"abcd","children":[{"children":[{"text":"a…","truncated":true}]}]},"truncated":true}`,
			true,
		},
	} {
		var got, want result
		if err := json.Unmarshal([]byte(c.in), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want.Texts == nil {
			want.Texts = []string{} // as Texts makes of nil
		}
		if cut := limits.Enforce(&got); cut != c.cut || !reflect.DeepEqual(got, want) {
			g, _ := json.Marshal(got)
			t.Errorf("%s: cut %t, %s; want %s", name, cut, g, c.want)
		}
	}
}

// A text that others point to is not changed under their hands, and what is cut off is not kept in memory.
func TestEnforceLeavesOthersTheirs(t *testing.T) {
	t.Parallel()
	text, numbers := strings.Repeat("a", 20), []float64{1, 2, 3, 4, 5}
	r := result{Pointer: &leaf{Note: &text}, Numbers: numbers}
	LimitsOf[result]().Enforce(&r)
	if len(text) != 20 || *r.Pointer.Note != "aaaaa…" {
		t.Errorf("%q, from %q", *r.Pointer.Note, text)
	}
	if len(r.Numbers) != 3 || cap(r.Numbers) != 3 || &r.Numbers[0] == &numbers[0] {
		t.Errorf("%v of room for %d", r.Numbers, cap(r.Numbers))
	}
	pointed := &result{common: common{Kind: "abcde"}}
	if !LimitsOf[*result]().Enforce(&pointed) || !pointed.Truncated || LimitsOf[*result]().Enforce(new(*result)) {
		t.Errorf("%+v", pointed)
	}
	free := struct{ Text string }{text}
	if LimitsOf[struct{ Text string }]().Enforce(&free) || free.Text != text {
		t.Error("a type without tags has a bound")
	}
}

func TestWrongTags(t *testing.T) {
	t.Parallel()
	for want, compile := range map[string]func(){
		"unknown word size=4k": func() {
			LimitsOf[struct {
				A string `bound:"size=4k"`
			}]()
		},
		"text is no positive number": func() {
			LimitsOf[struct {
				A []string `bound:"list=4k text"`
			}]()
		},
		"text=x is no positive number": func() {
			LimitsOf[struct {
				A string `bound:"text=x"`
			}]()
		},
		"list=0 is no positive number": func() {
			LimitsOf[struct {
				A []int `bound:"list=0"`
			}]()
		},
		"text=2 has no room": func() {
			LimitsOf[struct {
				A string `bound:"text=2"`
			}]()
		},
		"text= is for texts": func() {
			LimitsOf[struct {
				A []int `bound:"text=4 list=8"`
			}]()
		},
		"list= and count= are for lists": func() {
			LimitsOf[struct {
				A string `bound:"count=4"`
			}]()
		},
		"has no list=": func() {
			LimitsOf[struct {
				A []string `bound:"text=4"`
			}]()
		},
		"text= is for texts, not for bool": func() {
			LimitsOf[struct {
				Truncated bool `bound:"text=4"`
			}]()
		},
		"is not exported": func() {
			LimitsOf[struct {
				a string `bound:"text=4"`
			}]()
		},
		"nothing inside": func() {
			LimitsOf[struct {
				A struct{ B int } `bound:"apart"`
			}]()
		},
		"the tags inside map[string]bound.leaf": func() { LimitsOf[struct{ A map[string]leaf }]() },
		"the tags inside [2]bound.leaf":         func() { LimitsOf[struct{ A [2]leaf }]() },
		"is embedded as a pointer":              func() { LimitsOf[struct{ *leaf }]() },
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, want) {
					t.Errorf("the panic is %q, want %q", said, want)
				}
			}()
			compile()
		}()
	}
}

// Whatever a result holds: its bounds hold after one pass, whatever is cut is marked up to the result, what fits is as
// it was, and a second pass changes nothing.
func FuzzEnforce(f *testing.F) {
	f.Add("abcdefgh", "<<<", 5, false)
	f.Add("\xff\x00é", "\u2028", 40, true)
	f.Add("", "abcd", 0, true)
	limits := LimitsOf[result]()
	f.Fuzz(func(t *testing.T, a, b string, n int, marked bool) {
		n = max(0, min(n, 50))
		branch := &node{Text: a}
		r := result{
			common: common{Kind: b}, Numbers: slices.Repeat([]float64{1.5}, n), Texts: slices.Repeat([]string{a, b}, n),
			Leaves:  slices.Repeat([]leaf{{Name: a, Note: &b, Free: b, Truncated: marked}}, n),
			Pointer: &leaf{Note: &a}, Tree: &node{Text: b, Children: []*node{branch, nil, {Text: b}}[:min(n, 3)]},
		}
		before, _ := json.Marshal(r)
		cut := limits.Enforce(&r)
		after, _ := json.Marshal(r)
		size := func(s string) int { return Size(s) - len(`""`) }
		fits := size(r.Kind) <= 4 && len(r.Leaves) <= 3 && Size(r.Leaves) <= 120+2 && Size(r.Texts) <= 14+2 &&
			Size(r.Numbers) <= 6+2 && size(*r.Pointer.Note) <= 8 && len(r.Tree.Children) <= 2 && size(r.Tree.Text) <= 4
		for _, l := range r.Leaves {
			fits = fits && size(l.Name) <= 8 && size(*l.Note) <= 8 && l.Free == b
		}
		for _, s := range r.Texts {
			fits = fits && size(s) <= 6
		}
		if !fits {
			t.Fatalf("too long: %s", after)
		}
		if cut != r.Truncated || !cut && string(after) != string(before) && n > 0 {
			t.Fatalf("%s becomes %s, cut %t", before, after, cut)
		}
		if again := limits.Enforce(&r); again != cut {
			t.Fatalf("cut %t, then %t", cut, again)
		}
		if second, _ := json.Marshal(r); string(second) != string(after) {
			t.Fatalf("%s becomes %s", after, second)
		}
	})
}
