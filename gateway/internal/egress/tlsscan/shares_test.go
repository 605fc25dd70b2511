package tlsscan

import (
	"bytes"
	"crypto/mlkem"
	"errors"
	"testing"
)

// Both ends come to the same secret; crypto/tls holds the other groups (TestReadHandshake).
func TestEncapsulation(t *testing.T) {
	t.Parallel()
	for group, encapsulate := range map[uint16]func([]byte) (secret, sealed []byte, err error){
		groupMLKEM768: func(key []byte) ([]byte, []byte, error) {
			public, err := mlkem.NewEncapsulationKey768(key)
			if err != nil {
				return nil, nil, err
			}
			secret, sealed := public.Encapsulate()
			return secret, sealed, nil
		},
		groupMLKEM1024: func(key []byte) ([]byte, []byte, error) {
			public, err := mlkem.NewEncapsulationKey1024(key)
			if err != nil {
				return nil, nil, err
			}
			secret, sealed := public.Encapsulate()
			return secret, sealed, nil
		},
	} {
		ours, err := newAgreement(group)
		if err != nil {
			t.Fatal(err)
		}
		want, sealed, err := encapsulate(ours.share.data)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ours.finish(sealed); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x, %v", GroupName(group), got, want, err)
		}
	}
}

// A server's half of a wrong length is malformed, whatever the group.
func TestWrongShares(t *testing.T) {
	t.Parallel()
	for _, group := range agreeable {
		ours, err := newAgreement(group)
		if err != nil || ours.share.group != group {
			t.Fatal(err)
		}
		for _, size := range []int{0, 1, 31, 65, 1600, 5000} {
			if secret, err := ours.finish(make([]byte, size)); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s, %d octets: %x, %v", GroupName(group), size, secret, err)
			}
		}
	}
	if _, err := newAgreement(30); !errors.Is(err, ErrNotOffered) {
		t.Errorf("x448: %v", err)
	}
}
