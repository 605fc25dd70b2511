package config

import (
	"slices"
	"strings"
	"testing"
)

const goodToken = "0123456789abcdef"

func TestPlaceSettings(t *testing.T) {
	t.Parallel()
	const cert, key = "PEER_TLS_CERT_FILE=/c", "PEER_TLS_KEY_FILE=/k"
	token := "PEER_TOKEN=" + goodToken
	for _, tt := range []struct {
		env  []string
		says string // empty where it starts
	}{
		{nil, ""},
		{[]string{"PLACE_ID=fra-1"}, ""},
		{[]string{"PLACE_ID=" + strings.Repeat("a", 32)}, ""},
		{[]string{"PLACE_ID=" + strings.Repeat("a", 33)}, "PLACE_ID takes"},
		{[]string{"PLACE_ID=Fra"}, "PLACE_ID takes"},
		{[]string{"PLACE_ID=all"}, "PLACE_ID takes"},
		{[]string{"PLACE_ID=here"}, "PLACE_ID takes"},
		{[]string{"PLACE_ID=fra", "PLACE_NAME=Frankfurt am Main"}, ""},
		{[]string{"PLACE_ID=fra", "PLACE_NAME= x"}, "PLACE_NAME takes"},
		{[]string{"PLACE_ID=fra", "PLACE_NAME=" + strings.Repeat("x", 65)}, "PLACE_NAME takes"},
		{[]string{"PLACE_ID=fra", "PLACE_NAME=a\tb"}, "PLACE_NAME takes"},
		{[]string{"PLACES_FILE=/p"}, "PLACES_FILE is set without PLACE_ID"},
		{[]string{"PLACE_ID=fra", "PLACES_FILE=/p"}, ""},
		{[]string{"PEER_LISTEN_ADDR=127.0.0.1:1", token}, ""},
		{[]string{"PEER_LISTEN_ADDR=[::1]:1", token}, ""},
		{[]string{"PEER_LISTEN_ADDR=localhost:1", token}, ""},
		{[]string{"PEER_LISTEN_ADDR=127.0.0.1:1"}, "PEER_LISTEN_ADDR is set without PEER_TOKEN"},
		{[]string{"PEER_LISTEN_ADDR=127.0.0.1:1", "PEER_TOKENS_FILE=/t"}, ""},
		{[]string{"PEER_LISTEN_ADDR=:1", token}, "PEER_LISTEN_ADDR is no loopback address"},
		{[]string{"PEER_LISTEN_ADDR=0.0.0.0:1", token}, "PEER_LISTEN_ADDR is no loopback address"},
		{[]string{"PEER_LISTEN_ADDR=10.0.0.0/8:1", token}, "PEER_LISTEN_ADDR is no loopback address"},
		{[]string{"PEER_LISTEN_ADDR=place.example.net:1", token}, "PEER_LISTEN_ADDR is no loopback address"},
		{[]string{"PEER_LISTEN_ADDR=:1", token, cert, key}, ""},
		{[]string{"PEER_LISTEN_ADDR=:1", token, cert}, "PEER_TLS_CERT_FILE is set without PEER_TLS_KEY_FILE"},
		{[]string{"PEER_LISTEN_ADDR=:1", token, key}, "PEER_TLS_KEY_FILE is set without PEER_TLS_CERT_FILE"},
		{[]string{"PEER_TLS_CLIENT_CA_FILE=/a"}, "PEER_TLS_CLIENT_CA_FILE is set without"},
		{[]string{"PEER_TOKEN=short"}, "PEER_TOKEN takes"},
		{[]string{"PEER_TOKEN=" + goodToken + "," + goodToken + "x"}, ""},
		{[]string{"PEER_TOKEN=" + goodToken + "," + goodToken + "," + goodToken}, "PEER_TOKEN takes"},
	} {
		_, err := Parse(tt.env)
		if (err == nil) != (tt.says == "") || err != nil && (!strings.HasPrefix(err.Error(), tt.says) ||
			strings.Contains(err.Error(), goodToken)) {
			t.Errorf("%v: %v, want %q", tt.env, err, tt.says)
		}
	}
	c, err := Parse([]string{"PLACE_ID=fra", token + ",another-token-here"})
	if err != nil || c.PlaceName != "fra" || !slices.Equal(c.PeerTokens(), []string{goodToken, "another-token-here"}) {
		t.Errorf("%q %v %v", c.PlaceName, c.PeerTokens(), err)
	}
}
