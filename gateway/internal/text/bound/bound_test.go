package bound

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestList(t *testing.T) {
	t.Parallel()
	list := []string{"a", "bb", "<"} // with a comma each: 4, 5 and 9 bytes
	for most, want := range map[int]int{-1: 0, 0: 0, 3: 0, 4: 1, 8: 1, 9: 2, 17: 2, 18: 3, 1000: 3} {
		var cut, also bool
		got := List(list, most, &cut, &also)
		if !slices.Equal(got, list[:want]) || cut != (want < 3) || also != cut {
			t.Errorf("%d bytes: %q, cut %t, %t", most, got, cut, also)
		}
		if got == nil {
			t.Errorf("%d bytes: nil", most)
		}
		// An append to what is left must not write into what was cut off.
		if _ = append(got, "x"); list[0] != "a" || list[1] != "bb" || list[2] != "<" {
			t.Fatalf("%d bytes: the list was changed: %q", most, list)
		}
	}
	if got := List([]string(nil), 0); got != nil {
		t.Errorf("no list: %q", got)
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	list := []int{1, 2, 3}
	for most, want := range map[int]int{0: 0, 2: 2, 3: 3, 4: 3} {
		var cut bool
		if got := First(list, most, &cut); len(got) != want || cut != (want < 3) {
			t.Errorf("%d: %v, cut %t", most, got, cut)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""},
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abc…"},
		{"ab", 1, "…"},
		{"ééé", 6, "ééé"},
		{"éééé", 7, "éé…"},
		{"<<", 12, "<<"},
		{"<<<", 12, "<…"},
		{"a\x00b", 8, "a\x00b"},
		{"a\x00bc", 8, "a…"},
		{"\"\"\"\"", 8, "\"\"\"\""},
		{"😀😀", 8, "😀😀"},
		{"😀😀😀", 8, "😀…"},
		{"\u2028\u2028", 11, "\u2028…"},
	} {
		var cut bool
		if got := Text(c.text, c.most, &cut); got != c.want || cut != (got != c.text) {
			t.Errorf("%q in %d bytes: %q, cut %t; want %q", c.text, c.most, got, cut, c.want)
		}
	}
}

func TestPointer(t *testing.T) {
	t.Parallel()
	long, cut := "abcdefg", false
	if got := Pointer(&long, 6, &cut); *got != "abc…" || !cut || long != "abcdefg" {
		t.Errorf("%q, cut %t, from %q", *got, cut, long)
	}
	if Pointer(nil, 6) != nil {
		t.Error("nil became a text")
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	list := []string{"abcdefg", "b", "c"}
	var cut bool
	if got := Texts(list, 6, 13, &cut); !slices.Equal(got, []string{"abc…", "b"}) || !cut || list[0] != "abcdefg" {
		t.Errorf("%q, cut %t, from %q", got, cut, list)
	}
	cut = false
	if got := Texts(list[1:], 6, 12, &cut); !slices.Equal(got, []string{"b", "c"}) || cut {
		t.Errorf("%q, cut %t", got, cut)
	}
	if got := Texts([]string{"abcdefg", "abcdefh", "b", "b"}, 6, 100); !slices.Equal(got, []string{"abc…", "b", "b"}) {
		t.Errorf("equal beginnings: %q", got)
	}
	if got := Texts(nil, 6, 12); got == nil || len(got) != 0 {
		t.Errorf("no list: %v", got)
	}
}

// The sizes here are those that the encoder comes to, for every kind of character.
func TestSizesAreThoseOfTheEncoder(t *testing.T) {
	t.Parallel()
	size := func(s string) int { return Size(s) - len(`""`) }
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if r > 0x3000 {
			r += 99 // nothing is special there but the end
		}
		s := string(r)
		if got := encoded([]rune(s)[0], len(s)); got != size(s) {
			t.Fatalf("%U: %d, the encoder makes %d of it", r, got, size(s))
		}
	}
	if got := encoded(utf8.RuneError, 1); got != size("\xff") {
		t.Errorf("a byte that is no character: %d", got)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "abc", "<script>", "\x00\x01", "é😀\u2028", "\xff\xfe", strings.Repeat("&", 40)} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, most int) {
		var cut bool
		got := Text(s, most, &cut)
		whole, _ := json.Marshal(s)
		short, _ := json.Marshal(got)
		switch {
		case !cut && (got != s || len(whole)-2 > max(most, 0)):
			t.Fatalf("%q in %d bytes: %q is not marked", s, most, got)
		case cut && len(whole)-2 <= most:
			t.Fatalf("%q fits in %d bytes and was cut", s, most)
		case cut && len(short)-2 > max(most, len(ellipsis)):
			t.Fatalf("%q in %d bytes takes %d", s, most, len(short)-2)
		case cut && !strings.HasPrefix(s, strings.TrimSuffix(got, ellipsis)):
			t.Fatalf("%q becomes %q", s, got)
		}
	})
}

// Texts that are short whatever is in them are not measured; those that may be too long are, to the byte.
func TestListOfTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"aaaa", "\x01\x02\x03\x04"} {
		list := []string{text, text, text}
		exact := 3 * (Size(text) + len(","))
		atMost := 3 * (6*len(text) + len(`"",`))
		for _, most := range []int{exact - 1, exact, atMost - 1, atMost} {
			cut := false
			if got := List(list, most, &cut); cut != (most < exact) || (len(got) < 3) != cut {
				t.Errorf("%q in %d bytes: %q, cut %v", text, most, got, cut)
			}
		}
	}
}
