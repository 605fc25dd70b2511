package workerapi

import (
	"strings"
	"testing"
)

func TestShares(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ slots, client, group int }{
		{1, 3, 3}, {12, 3, 3}, {15, 3, 3}, {16, 3, 4}, {63, 3, 15}, {64, 4, 16}, {79, 4, 19}, {80, 5, 20}, {1000, 62, 250},
	} {
		if client, group := ClientShare(c.slots), GroupShare(c.slots); client != c.client || group != c.group {
			t.Errorf("of %d slots: %d and %d, want %d and %d", c.slots, client, group, c.client, c.group)
		}
	}
}

func TestPseudonym(t *testing.T) {
	t.Parallel()
	const token, name = "0123456789abcdef", "2001:db8::/64"
	p := Pseudonym(token, "client", name)
	if len(p) != 32 || !ValidPseudonym(p) || p != Pseudonym(token, "client", name) {
		t.Errorf("pseudonym %q", p)
	}
	for what, other := range map[string]string{
		"another token": Pseudonym(token+"x", "client", name), "another kind": Pseudonym(token, "group", name),
		"another name": Pseudonym(token, "client", "2001:db8:0:1::/64"), "no token": Pseudonym("", "client", name),
	} {
		if other == p {
			t.Errorf("%s gives the same", what)
		}
	}
	if got := Pseudonym(token, "client", ""); got != "" {
		t.Errorf("nobody is %q", got)
	}
}

func TestValidPseudonym(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"": true, "a": true, "~!": true, strings.Repeat("f", 64): true, strings.Repeat("f", 65): false,
		"a b": false, "a\n": false, "\x7f": false, "\x00": false, "é": false,
	} {
		if got := ValidPseudonym(s); got != want {
			t.Errorf("%q: %t", s, got)
		}
	}
}
