package finding

import (
	"encoding/json"
	"testing"
)

// What the catalogue has for a code is this instance's own; findings that it does not have are dropped.
func TestAdopt(t *testing.T) {
	t.Parallel()
	link := func(url string) *string { return &url }
	a := sample.Find("A", "x", 3).About("x:80").WithPaste(PasteDNS, "x. TXT y")
	a.Reference = link("https://other.example/")
	b := sample.Find("B")
	b.Message, b.Reference = "Sign in.", link("https://other.example/")
	r := Report{Conclusion{OK, "DOWN", "Your session has expired: sign in."}, []Finding{{Code: "C"}, a, {Code: ""}, b}}
	if err := r.Adopt(sample); err != nil {
		t.Fatal(err)
	}
	b.Reference = link("RFC 7208 section 3")
	if kept := Adopted([]Finding{b}, sample, func(f *Finding) *Finding { return f }); *kept[0].Reference != *b.Reference {
		t.Errorf("the section of an RFC became %v", kept[0].Reference)
	}
	got, err := json.Marshal(r)
	want := `{"conclusion":{"state":"fail","code":"DOWN","message":"It is down."},"findings":[` +
		`{"code":"A","severity":"warn","group":"broken","weight":50,"message":"x is slow: 3 ms.","remedy":"Make x faster.",` +
		`"paste":null,"subject":"x:80","reference":"https://example.com/a"},` +
		`{"code":"B","severity":"info","group":"note","weight":0,"message":"All of it.","remedy":null,"paste":null,` +
		`"subject":null,"reference":null}]}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	r.Conclusion.Code = "SIDEWAYS"
	if err := r.Adopt(sample); err == nil {
		t.Error("a conclusion that is not known is adopted")
	}
}
