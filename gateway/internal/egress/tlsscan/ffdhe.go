package tlsscan

import (
	"crypto/rand"
	"math/big"
)

// finiteField is a group of RFC 7919, whose generator is 2.
type finiteField struct {
	bits int
	// offset is X in the formula of the group's prime.
	offset int64
	// exponent is the least size of a secret exponent (RFC 7919 section 5.2).
	exponent uint
}

// finiteFields are those that keys can be exchanged in.
var finiteFields = map[uint16]finiteField{
	groupFFDHE2048: {2048, 560316, 225},
	groupFFDHE3072: {3072, 2625351, 275},
	groupFFDHE4096: {4096, 5736041, 325},
	groupFFDHE6144: {6144, 15705020, 375},
	groupFFDHE8192: {8192, 10965728, 400},
}

// prime is 2^bits - 2^(bits-64) + (floor(2^(bits-130) e) + offset) 2^64 - 1 (RFC 7919 appendix A).
func (f finiteField) prime() *big.Int {
	shifted := func(n int) *big.Int {
		return new(big.Int).Lsh(big.NewInt(1), uint(n)) // #nosec G115 -- n is positive
	}
	const guard = 64 // bits, for what each term of the series is rounded down by
	e := new(big.Int)
	for n, term := int64(1), shifted(f.bits-130+guard); term.Sign() > 0; n++ {
		e.Add(e, term)
		term.Quo(term, big.NewInt(n))
	}
	e.Rsh(e, guard)
	p := shifted(f.bits)
	p.Sub(p, shifted(f.bits-64))
	p.Add(p, e.Lsh(e.Add(e, big.NewInt(f.offset)), 64))
	return p.Sub(p, big.NewInt(1))
}

// agree makes a share (RFC 8446 section 4.2.8.1). Its keys protect nothing, so its arithmetic may take longer for some
// of them than for others.
func (f finiteField) agree() (agreement, error) {
	p := f.prime()
	secret, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), f.exponent))
	if err != nil {
		return agreement{}, err
	}
	size := f.bits / 8
	public := new(big.Int).Exp(big.NewInt(2), secret, p)
	return agreement{keyShare{data: public.FillBytes(make([]byte, size))}, func(theirs []byte) ([]byte, error) {
		y := new(big.Int).SetBytes(theirs)
		least, most := big.NewInt(1), new(big.Int).Sub(p, big.NewInt(1)) // both excluded (RFC 7919 section 5.1)
		if len(theirs) != size || y.Cmp(least) <= 0 || y.Cmp(most) >= 0 {
			return nil, ErrMalformed
		}
		return y.Exp(y, secret, p).FillBytes(make([]byte, size)), nil
	}}, nil
}
