package tlswire_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"diagnostics/gateway/internal/egress/tlswire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// records is a connection that brings what rest holds, at most a few octets at a time.
type records struct {
	net.Conn
	rest []byte
}

func (r *records) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 7)], r.rest) // headers come in two
	r.rest = r.rest[n:]
	return n, nil
}

func manyRecords(count, size int) *records {
	one := append([]byte{23, 3, 3, byte(size >> 8), byte(size)}, make([]byte, size)...)
	return &records{rest: bytes.Repeat(one, count)}
}

func TestRecordsAreCounted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		count     int
		size      int
		delivered int
		want      error
	}{
		{"as many as there may be", tlswire.MaxRecords, 1, 0, nil},
		{"one more", tlswire.MaxRecords + 1, 1, 0, tlswire.ErrRecords},
		{"one more that is paid for", tlswire.MaxRecords + 1, 1, tlswire.RecordOctets, nil},
		{"one more that is nearly paid for", tlswire.MaxRecords + 1, 1, tlswire.RecordOctets - 1, tlswire.ErrRecords},
		{"empty ones", tlswire.MaxRecords + 1, 0, 0, tlswire.ErrRecords},
		{"large ones", 100, 16 << 10, 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wire := tlswire.Watch(manyRecords(test.count, test.size))
			above := wire.Above(zeroes(test.delivered))
			_, _ = io.ReadFull(above, make([]byte, test.delivered))
			_, err := io.Copy(io.Discard, struct{ io.Reader }{wire})
			if !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			if _, again := wire.Read(make([]byte, 1)); test.want != nil && !errors.Is(again, test.want) {
				t.Errorf("then %v", again)
			}
		})
	}
}

// zeroes is a connection that brings so many octets.
func zeroes(n int) net.Conn { return &records{rest: make([]byte, n)} }

func TestHandshakesAreBounded(t *testing.T) {
	t.Parallel()
	const size = 1 << 10
	count := tlswire.MaxHandshake / (size + 5)
	last := tlswire.MaxHandshake - count*(size+5)
	for over, want := range map[int]error{0: nil, 1: tlswire.ErrHandshake} {
		r := manyRecords(count, size)
		r.rest = append(r.rest, manyRecords(1, last-5+over).rest...)
		wire := tlswire.Watch(r)
		if _, err := io.Copy(io.Discard, struct{ io.Reader }{wire}); !errors.Is(err, want) {
			t.Errorf("%d over: %v, want %v", over, err, want)
		}
	}
	// Once it is complete, what follows is no handshake.
	wire := tlswire.Watch(manyRecords(2*count, size))
	wire.Above(zeroes(0))
	if _, err := io.Copy(io.Discard, struct{ io.Reader }{wire}); err != nil {
		t.Error(err)
	}
}

// fails is a connection whose reads and writes end in errors of their own.
type fails struct {
	net.Conn
	read, write error
}

func (f fails) Read([]byte) (int, error)  { return 0, f.read }
func (f fails) Write([]byte) (int, error) { return 0, f.write }

// What keeps new keys from being answered is reported, and not that the next record then looks forged.
func TestAFailedWriteIsTheReadersError(t *testing.T) {
	t.Parallel()
	forged, refused := errors.New("bad record MAC"), errors.New("refused")
	for name, c := range map[string]struct{ write, want error }{"failed": {refused, refused}, "did not": {nil, forged}} {
		wire := tlswire.Watch(fails{write: c.write})
		_, _ = wire.Write([]byte("x"))
		if _, err := wire.Above(fails{read: forged}).Read(make([]byte, 1)); !errors.Is(err, c.want) {
			t.Errorf("a write that %s: %v, want %v", name, err, c.want)
		}
	}
}

// What TLS itself answers is bounded; what its user writes is not.
func TestAnswersOfTLS(t *testing.T) {
	t.Parallel()
	wire := tlswire.Watch(fails{})
	through := wire.Above(fails{})
	for i := range tlswire.MaxAnswers + 1 {
		_, _ = through.Write(nil)
		want := error(nil)
		if i == tlswire.MaxAnswers {
			want = tlswire.ErrRecords
		}
		if _, err := wire.Write([]byte("x")); !errors.Is(err, want) {
			t.Fatalf("answer %d: %v, want %v", i+1, err, want)
		}
	}
	user := tlswire.Watch(fails{})
	through = user.Above(passes{user})
	for range 2 * tlswire.MaxAnswers {
		if _, err := through.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
}

// passes is a TLS client's connection that writes as the test wants.
type passes struct{ net.Conn }
