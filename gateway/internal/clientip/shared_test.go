package clientip

import (
	"net/netip"
	"testing"
)

func TestShared(t *testing.T) {
	t.Parallel()
	ranges := prefixes(t, "203.0.113.0/24")
	tests := []struct {
		name, peer string
		trust      Trust
		want       bool
	}{
		{"a visitor", "192.0.2.1", Trust{}, false},
		{"a private peer", "10.0.0.1", Trust{}, true},
		{"a private IPv6 peer", "fd00::1", Trust{}, true},
		{"this host", "127.0.0.1", Trust{}, true},
		{"a platform's own space", "100.64.0.1", Trust{}, true},
		{"any peer whose headers are trusted", "192.0.2.1", Trust{Headers: true}, true},
		{"a proxy by its range", "203.0.113.1", Trust{Headers: true, Peers: ranges}, true},
		{"one beside the range", "203.0.114.1", Trust{Headers: true, Peers: ranges}, false},
		{"a range without trust", "203.0.113.1", Trust{Peers: ranges}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := New(tt.trust, quiet()).Shared(netip.MustParseAddr(tt.peer)); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
