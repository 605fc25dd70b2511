package tlsscan

import (
	"crypto"
	"crypto/ecdh"
	"crypto/mlkem"
	"crypto/rand"
	"slices"
)

// agreement is the client's half of a key exchange of TLS 1.3.
type agreement struct {
	share keyShare
	// finish gives the secret for the server's half; ErrMalformed where that makes no sense.
	finish func(theirs []byte) ([]byte, error)
}

// agreeable are the groups that keys can be exchanged in, in our order.
var agreeable = []uint16{
	groupX25519, groupP256, groupX25519MLKEM768, groupP384, groupP521,
	groupSecP256r1MLKEM768, groupSecP384r1MLKEM1024, groupMLKEM768, groupMLKEM1024,
	groupFFDHE2048, groupFFDHE3072, groupFFDHE4096, groupFFDHE6144, groupFFDHE8192,
}

// newAgreement begins a key exchange in one of agreeable.
func newAgreement(group uint16) (agreement, error) {
	a, err := agreeIn(group)
	a.share.group = group
	return a, err
}

// agreeIn puts hybrids together in the order that their drafts have (draft-ietf-tls-ecdhe-mlkem): the name's, but for
// X25519MLKEM768.
func agreeIn(group uint16) (agreement, error) {
	switch group {
	case groupX25519:
		return agreeOn(ecdh.X25519())
	case groupP256:
		return agreeOn(ecdh.P256())
	case groupP384:
		return agreeOn(ecdh.P384())
	case groupP521:
		return agreeOn(ecdh.P521())
	case groupMLKEM768:
		return encapsulate(mlkem.GenerateKey768())
	case groupMLKEM1024:
		return encapsulate(mlkem.GenerateKey1024())
	case groupX25519MLKEM768:
		return both(groupMLKEM768, mlkem.CiphertextSize768, groupX25519)
	case groupSecP256r1MLKEM768:
		return both(groupP256, 65, groupMLKEM768)
	case groupSecP384r1MLKEM1024:
		return both(groupP384, 97, groupMLKEM1024)
	}
	if field, is := finiteFields[group]; is {
		return field.agree()
	}
	return agreement{}, ErrNotOffered
}

func agreeOn(curve ecdh.Curve) (agreement, error) {
	private, err := curve.GenerateKey(rand.Reader)
	if err != nil {
		return agreement{}, err
	}
	return agreement{keyShare{data: private.PublicKey().Bytes()}, sensible(func(theirs []byte) ([]byte, error) {
		public, err := curve.NewPublicKey(theirs)
		if err != nil {
			return nil, err
		}
		return private.ECDH(public)
	})}, nil
}

func encapsulate[K crypto.Decapsulator](private K, err error) (agreement, error) {
	if err != nil {
		return agreement{}, err
	}
	return agreement{keyShare{data: private.Encapsulator().Bytes()}, sensible(private.Decapsulate)}, nil
}

func sensible(finish func([]byte) ([]byte, error)) func([]byte) ([]byte, error) {
	return func(theirs []byte) ([]byte, error) {
		secret, err := finish(theirs)
		if err != nil {
			return nil, ErrMalformed
		}
		return secret, nil
	}
}

// both joins the exchanges in two groups, of which the server's half of the first is so many octets long.
func both(first uint16, theirFirst int, second uint16) (agreement, error) {
	a, err := agreeIn(first)
	if err != nil {
		return agreement{}, err
	}
	b, err := agreeIn(second)
	if err != nil {
		return agreement{}, err
	}
	ours := slices.Concat(a.share.data, b.share.data)
	return agreement{keyShare{data: ours}, func(theirs []byte) ([]byte, error) {
		if len(theirs) < theirFirst {
			return nil, ErrMalformed
		}
		one, err := a.finish(theirs[:theirFirst])
		if err != nil {
			return nil, err
		}
		two, err := b.finish(theirs[theirFirst:])
		if err != nil {
			return nil, err
		}
		return slices.Concat(one, two), nil
	}}, nil
}
