package files

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"diagnostics/daemon/daemontest/testca"
)

func TestKeyPair(t *testing.T) {
	t.Parallel()
	ca := testca.New(t, "one")
	cert, key := ca.Issue(t, time.Hour, "worker.example.com")
	other, otherKey := ca.Issue(t, time.Hour, "other.example.com")
	expired, expiredKey := ca.Issue(t, -time.Hour, "worker.example.com")
	for name, tt := range map[string]struct {
		cert, key []byte
		want      error
	}{
		"good":                  {cert, key, nil},
		"with an intermediate":  {slices.Concat(cert, ca.PEM()), key, nil},
		"both in both":          {slices.Concat(key, cert), slices.Concat(key, cert), nil},
		"expired":               {expired, expiredKey, nil},
		"another's key":         {cert, otherKey, ForeignKey},
		"another's certificate": {other, key, ForeignKey},
		"no certificate":        {key, key, NoPEM},
		"no key":                {cert, cert, NoKey},
		"half a certificate":    {cert[:len(cert)/2], key, NoPEM},
		"half a key":            {cert, key[:len(key)/2], NoKey},
		"half an intermediate":  {slices.Concat(cert, ca.PEM()[:200]), key, NoPEM},
		"text":                  {[]byte("worker"), key, NoPEM},
	} {
		pair, err := KeyPair(tt.cert, tt.key)
		if !errors.Is(err, tt.want) || (err == nil) != (pair != nil) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	one, two := testca.New(t, "one").PEM(), testca.New(t, "two").PEM()
	damaged := slices.Clone(two)
	damaged[len(damaged)/2] = '!'
	for name, tt := range map[string]struct {
		text []byte
		want error
	}{
		"one":                {one, nil},
		"two, with comments": {slices.Concat([]byte("# one\n"), one, []byte("\n# two\n"), two), nil},
		"none":               {[]byte("# nothing"), NoPEM},
		"a damaged last":     {slices.Concat(one, damaged), NoPEM},
		"a damaged first":    {slices.Concat(damaged, one), NoPEM},
		"an end that is cut": {slices.Concat(one, two[:100]), NoPEM},
		"another kind":       {bytes.ReplaceAll(one, []byte("CERTIFICATE"), []byte("PUBLIC KEY")), NoPEM},
	} {
		if pool, err := Roots(tt.text); !errors.Is(err, tt.want) || (err == nil) != (pool != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzCertificates(f *testing.F) {
	ca := testca.New(f, "one")
	f.Add(ca.PEM())
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := Certificates(text)
		if (err == nil) != (len(all) > 0) {
			t.Errorf("%d certificates, %v", len(all), err)
		}
	})
}
