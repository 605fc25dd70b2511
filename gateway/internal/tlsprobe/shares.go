package tlsprobe

import (
	"crypto/ecdh"
	"crypto/mlkem"
	"crypto/rand"
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
		return encapsulate768()
	case groupMLKEM1024:
		return encapsulate1024()
	case groupX25519MLKEM768:
		return both(encapsulate768, mlkem.CiphertextSize768, func() (agreement, error) { return agreeOn(ecdh.X25519()) })
	case groupSecP256r1MLKEM768:
		return both(func() (agreement, error) { return agreeOn(ecdh.P256()) }, 65, encapsulate768)
	case groupSecP384r1MLKEM1024:
		return both(func() (agreement, error) { return agreeOn(ecdh.P384()) }, 97, encapsulate1024)
	}
	return agreement{}, ErrNotOffered
}

func agreeOn(curve ecdh.Curve) (agreement, error) {
	private, err := curve.GenerateKey(rand.Reader)
	if err != nil {
		return agreement{}, err
	}
	return agreement{keyShare{data: private.PublicKey().Bytes()}, func(theirs []byte) ([]byte, error) {
		public, err := curve.NewPublicKey(theirs)
		if err != nil {
			return nil, ErrMalformed
		}
		secret, err := private.ECDH(public)
		if err != nil {
			return nil, ErrMalformed
		}
		return secret, nil
	}}, nil
}

func encapsulate768() (agreement, error) {
	private, err := mlkem.GenerateKey768()
	if err != nil {
		return agreement{}, err
	}
	return agreement{keyShare{data: private.EncapsulationKey().Bytes()}, sensible(private.Decapsulate)}, nil
}

func encapsulate1024() (agreement, error) {
	private, err := mlkem.GenerateKey1024()
	if err != nil {
		return agreement{}, err
	}
	return agreement{keyShare{data: private.EncapsulationKey().Bytes()}, sensible(private.Decapsulate)}, nil
}

func sensible(decapsulate func([]byte) ([]byte, error)) func([]byte) ([]byte, error) {
	return func(theirs []byte) ([]byte, error) {
		secret, err := decapsulate(theirs)
		if err != nil {
			return nil, ErrMalformed
		}
		return secret, nil
	}
}

// both joins two exchanges, of which the server's half of the first is so many octets long.
func both(first func() (agreement, error), theirFirst int, second func() (agreement, error)) (agreement, error) {
	a, err := first()
	if err != nil {
		return agreement{}, err
	}
	b, err := second()
	if err != nil {
		return agreement{}, err
	}
	ours := append(append([]byte(nil), a.share.data...), b.share.data...)
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
		return append(append([]byte(nil), one...), two...), nil
	}}, nil
}
