// Package gunzip reads gzip (RFC 1952) as browsers do: what follows the last member and is none does not spoil what
// came before it. It does no I/O but to read.
package gunzip

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// Reader decompresses one member after another.
type Reader struct {
	from     *bufio.Reader
	member   *gzip.Reader
	trailing func()
	err      error // the end, once it was found
}

// NewReader reads the header of the first member. trailing, which may be nil, is called where other bytes follow the
// last one. Errors are those of gzip.NewReader.
func NewReader(from *bufio.Reader, trailing func()) (*Reader, error) {
	member, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	member.Multistream(false)
	return &Reader{from: from, member: member, trailing: trailing}, nil
}

// Read is io.Reader. Errors are those of gzip.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	for r.err == nil {
		n, err := r.member.Read(p)
		if errors.Is(err, io.EOF) {
			err = r.next()
		}
		r.err = err
		if n > 0 {
			return n, nil
		}
	}
	return 0, r.err
}

// next begins the next member. It returns io.EOF where there is none.
func (r *Reader) next() error {
	magic := []byte{0x1f, 0x8b}
	head, err := r.from.Peek(len(magic))
	switch {
	case len(head) == 0, err != nil && !errors.Is(err, io.EOF):
		return err
	case !bytes.Equal(head, magic):
		return r.end()
	}
	if err := r.member.Reset(r.from); errors.Is(err, gzip.ErrHeader) {
		return r.end()
	} else if err != nil {
		return err
	}
	r.member.Multistream(false)
	return nil
}

func (r *Reader) end() error {
	if r.trailing != nil {
		r.trailing()
	}
	return io.EOF
}
