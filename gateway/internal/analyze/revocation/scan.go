package revocation

import (
	"bufio"
	"bytes"
	"errors"
	"hash"
	"io"
	"time"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// MaxCRL is how many octets of a list are read. maxElement bounds each of its parts that is held at once, of which a
// list with 3 MiB has one at a time.
const (
	MaxCRL     = 4 << 20
	maxElement = 16 << 10
)

// The problems of what is read.
const (
	errNoList  Problem = "CRL_UNREADABLE"
	errTooLong Problem = "CRL_TOO_LONG"
)

// scanner reads DER (X.690) front to back, without holding what it has passed. Its first error stands: after it every
// method returns nothing. What element returns holds until the next call.
type scanner struct {
	in  *bufio.Reader
	err error
	// at is how many octets were read, and within where the value ends that is being read.
	at, within int
	// signed means that what is read is signed: it goes to sum, and to head before the algorithm is known.
	signed bool
	head   []byte
	sum    hash.Hash
}

func newScanner(r io.Reader) *scanner {
	return &scanner{in: bufio.NewReaderSize(r, maxElement), within: MaxCRL}
}

func (s *scanner) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// peek gives the next octets without reading on; nil where there are not so many.
func (s *scanner) peek(n int) []byte {
	if s.err != nil {
		return nil
	}
	if s.at+n > s.within {
		s.fail(errNoList)
		return nil
	}
	octets, err := s.in.Peek(n)
	if errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) {
		err = errNoList
	}
	if err != nil {
		s.fail(err)
		return nil
	}
	return octets
}

// take reads octets that are less than maxElement.
func (s *scanner) take(n int) []byte {
	octets := s.peek(n)
	if s.err != nil {
		return nil
	}
	_, _ = s.in.Discard(n) // they are there
	s.at += n
	switch {
	case !s.signed:
	case s.sum != nil:
		_, _ = s.sum.Write(octets)
	default:
		s.head = append(s.head, octets...)
	}
	return octets
}

// hashWith hashes what is signed, from its beginning.
func (s *scanner) hashWith(sum hash.Hash) {
	_, _ = sum.Write(s.head)
	s.sum, s.head = sum, nil
}

// next is the tag of the next value, 0 at the end of the one that is being read.
func (s *scanner) next() asn1.Tag {
	if s.err != nil || s.at == s.within {
		return 0
	}
	if octets := s.peek(1); octets != nil {
		return asn1.Tag(octets[0])
	}
	return 0
}

// header gives the lengths of the next value's header and content. Lengths are definite and as short as they can be.
func (s *scanner) header(tag asn1.Tag) (header, content int) {
	octets := s.peek(2)
	if octets == nil {
		return 0, 0
	}
	if asn1.Tag(octets[0]) != tag {
		s.fail(errNoList)
		return 0, 0
	}
	const long = 0x80
	if octets[1] < long {
		return 2, int(octets[1])
	}
	n := int(octets[1] - long)
	if n == 0 || n > 4 {
		s.fail(errNoList)
		return 0, 0
	}
	if octets = s.peek(2 + n); octets == nil {
		return 0, 0
	}
	for _, o := range octets[2:] {
		content = content<<8 | int(o)
	}
	if octets[2] == 0 || content < long {
		s.fail(errNoList)
	}
	return 2 + n, content
}

// sequence reads a SEQUENCE whose content is read by the function, to its end.
func (s *scanner) sequence(read func()) {
	header, content := s.header(asn1.SEQUENCE)
	s.take(header)
	if s.err == nil && s.at+content > s.within {
		s.fail(s.beyond())
	}
	if s.err != nil {
		return
	}
	outer := s.within
	s.within = s.at + content
	if read(); s.at != s.within {
		s.fail(errNoList)
	}
	s.within = outer
}

// beyond is the problem of a value that is longer than the one that it is in, or than a list may be.
func (s *scanner) beyond() error {
	if s.within == MaxCRL {
		return errTooLong
	}
	return errNoList
}

// element reads a whole value, its header included.
func (s *scanner) element(tag asn1.Tag) []byte {
	header, content := s.header(tag)
	if s.err == nil && header+content > maxElement {
		s.fail(errNoList)
	}
	return s.take(header + content)
}

// kept is element for what is kept.
func (s *scanner) kept(tag asn1.Tag) []byte { return bytes.Clone(s.element(tag)) }

// time reads a moment, the zero one where there is none.
func (s *scanner) time() (t time.Time) {
	tag := s.next()
	if tag != asn1.UTCTime && tag != asn1.GeneralizedTime {
		return t
	}
	in := cryptobyte.String(s.element(tag))
	if t = readTime(&in); t.IsZero() {
		s.fail(errNoList)
	}
	return t
}

func readTime(in *cryptobyte.String) (t time.Time) {
	if in.PeekASN1Tag(asn1.UTCTime) {
		in.ReadASN1UTCTime(&t)
		return t
	}
	in.ReadASN1GeneralizedTime(&t)
	return t
}
