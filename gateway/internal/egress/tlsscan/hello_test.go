package tlsscan

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What is written is read again, whatever is in it.
func TestHelloRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := clientHello{version: rapid.SampledFrom(Versions).Draw(t, "version")}
		copy(h.random[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "random"))
		h.session = rapid.SampledFrom([][]byte{{}, make([]byte, 32)}).Draw(t, "session")
		numbers := rapid.SliceOfN(rapid.Uint16(), 1, 250)
		h.suites = numbers.Draw(t, "suites")
		if h.version > SSL30 {
			h.serverName = rapid.StringMatching(`[a-z.]{0,60}`).Draw(t, "name")
			h.groups = numbers.Draw(t, "groups")
			h.alpn = rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,9}`), 1, 3).Draw(t, "alpn")
			h.extras = rapid.Bool().Draw(t, "extras")
		}
		if h.version >= TLS12 {
			h.signatures = numbers.Draw(t, "signatures")
			h.anyChain = rapid.Bool().Draw(t, "anyChain")
		}
		if h.version == TLS13 {
			h.versions = []Version{TLS13, TLS12}
			h.cookie = rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "cookie")
			h.shares = []keyShare{{rapid.Uint16().Draw(t, "group"), rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "share")}}
		}
		message := h.marshal()
		got, ok := parseClientHello(message)
		if !ok || !reflect.DeepEqual(got, h) {
			t.Fatalf("%+v became %+v, %v", h, got, ok)
		}
		if size := len(message); h.version > SSL30 && size > 255 && size < 512 {
			t.Fatalf("a hello of %d octets", size)
		}
	})
}

// No hello is one that servers are known to give up on.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, compact := range []bool{false, true} {
		r := &run{Scan: Scan{ServerName: "www.example.com"}}
		r.compact.Store(compact)
		for _, v := range Versions {
			all := map[uint16]bool{}
			for i, chunk := range r.chunksOf(v) {
				q := r.offerOf(v)
				q.suites = chunk
				size := len(r.hello(q).marshal())
				if size > 255 && size < 512 || compact && size > 255 || v == SSL30 && size > 255 || len(chunk) > 120 && i == 0 {
					t.Errorf("%s, compact %v: %d suites in a hello of %d octets", v, compact, len(chunk), size)
				}
				for _, id := range chunk {
					all[id] = true
				}
			}
			if len(all) != len(offered(v)) {
				t.Errorf("%s: %d of %d suites are offered", v, len(all), len(offered(v)))
			}
		}
	}
}

func TestOffered(t *testing.T) {
	t.Parallel()
	everywhere := map[uint16]bool{}
	for _, v := range Versions {
		all := offered(v)
		for _, id := range all {
			everywhere[id] = true
			s, _ := SuiteByID(id)
			if (v == TLS13) != (s.KeyExchange == "(EC)DHE") {
				t.Errorf("%s is offered in %s", s.Name, v)
			}
		}
		// Some servers prefer ChaCha20 for clients that do.
		if first, _ := SuiteByID(all[0]); first.Strength != Strong && v >= TLS12 || cipherRank(first.Name) == 2 {
			t.Errorf("%s comes first in %s", first.Name, v)
		}
	}
	if len(everywhere) != len(registry) {
		t.Errorf("%d of %d suites are offered", len(everywhere), len(registry))
	}
	for name, versions := range map[string][]Version{
		"RSA_WITH_RC4_128_MD5":                {TLS12, TLS11, TLS10, SSL30},
		"ECDHE_RSA_WITH_AES_128_CBC_SHA256":   {TLS12},
		"ECDHE_PSK_WITH_AES_128_CBC_SHA256":   {TLS12, TLS11, TLS10, SSL30},
		"DHE_RSA_WITH_AES_128_CCM_8":          {TLS12},
		"RSA_WITH_NULL_SHA256":                {TLS12},
		"ECDHE_RSA_WITH_AES_256_GCM_SHA384":   {TLS12},
		"AES_128_CCM_8_SHA256":                {TLS13},
		"GOSTR341112_256_WITH_MAGMA_CTR_OMAC": {TLS12},
	} {
		var got []Version
		for _, v := range Versions {
			if slices.Contains(offered(v), ids(t, name)[0]) {
				got = append(got, v)
			}
		}
		if !slices.Equal(got, versions) {
			t.Errorf("%s is offered in %v", name, got)
		}
	}
	// Finite fields are named in TLS 1.3 alone.
	if slices.ContainsFunc(offeredGroups(TLS12), isFiniteField) || !slices.Contains(offeredGroups(TLS13), 256) ||
		slices.Contains(offeredGroups(TLS12), groupX25519MLKEM768) || slices.Contains(offeredGroups(TLS13), 26) {
		t.Error("a group is offered where it does not belong")
	}
}
