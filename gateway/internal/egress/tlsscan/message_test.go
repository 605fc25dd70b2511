package tlsscan

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"golang.org/x/crypto/cryptobyte"
	"pgregory.net/rapid"
)

func octets(min, max int) *rapid.Generator[[]byte] { return rapid.SliceOfN(rapid.Byte(), min, max) }

func TestServerHelloRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := serverHello{version: rapid.SampledFrom(Versions).Draw(t, "version"), suite: rapid.Uint16().Draw(t, "suite")}
		if h.version == TLS13 {
			h.retry = rapid.Bool().Draw(t, "retry")
			h.group = rapid.Uint16Min(1).Draw(t, "group")
			h.cookie = octets(1, 30).Draw(t, "cookie")
			if !h.retry {
				h.share = octets(1, 2000).Draw(t, "share")
			}
		} else {
			h.alpn = rapid.StringMatching(`[a-z]{1,9}`).Draw(t, "alpn")
			h.scts = rapid.SliceOfN(octets(1, 9), 1, 4).Draw(t, "scts")
		}
		got, err := parseServerHello(h.marshal()[4:])
		if err != nil || !same(got, h) {
			t.Fatalf("%+v became %+v, %v", h, got, err)
		}
	})
}

// same compares, without regard to whether octets are a cryptobyte.String.
func same(a, b serverHello) bool {
	equal := a.version == b.version && a.suite == b.suite && a.retry == b.retry && a.group == b.group && a.alpn == b.alpn
	return equal && bytes.Equal(a.share, b.share) && bytes.Equal(a.cookie, b.cookie) &&
		slices.EqualFunc(a.scts, b.scts, bytes.Equal)
}

func TestCertificatesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := certificates{all: rapid.SliceOfN(octets(1, 300), 1, 5).Draw(t, "all")}
		got, err := parseCertificates(c.marshal()[4:], TLS12)
		if err != nil || !slices.EqualFunc(got.all, c.all, bytes.Equal) {
			t.Fatalf("%x became %x, %v", c.all, got.all, err)
		}
		c.staple, c.scts = octets(1, 50).Draw(t, "staple"), rapid.SliceOfN(octets(1, 9), 1, 4).Draw(t, "scts")
		got, err = parseCertificates(c.marshal13()[4:], TLS13)
		if err != nil || !slices.EqualFunc(got.all, c.all, bytes.Equal) || !bytes.Equal(got.staple, c.staple) ||
			!slices.EqualFunc(got.scts, c.scts, bytes.Equal) {
			t.Fatalf("%+v became %+v, %v", c, got, err)
		}
	})
}

// ffdhe is how a ServerKeyExchange with a prime of RFC 7919 begins.
func ffdhe(bits int) []byte {
	prime := append(bytes.Clone(ffdhePrefix), make([]byte, bits/8-len(ffdhePrefix))...)
	return cryptobyteOf(func(b *cryptobyte.Builder) { addBytes16(b, prime) })
}

func cryptobyteOf(f func(*cryptobyte.Builder)) []byte {
	var b cryptobyte.Builder
	f(&b)
	return b.BytesOrPanic()
}

func TestKeyExchange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		exchange string
		body     []byte
		want     keyExchange
		err      error
	}{
		"a curve":                   {"ECDHE", curveExchange(29)[4:], keyExchange{group: 29}, nil},
		"a curve without a number":  {"ECDHE", []byte{1, 0, 0}, keyExchange{}, nil},
		"half a curve":              {"ECDHE", []byte{3, 0}, keyExchange{}, ErrMalformed},
		"nothing":                   {"ECDHE", nil, keyExchange{}, ErrMalformed},
		"512 bits":                  {"DHE", primeExchange(512)[4:], keyExchange{dhBits: 512}, nil},
		"1023 bits":                 {"DHE", primeExchange(1023)[4:], keyExchange{dhBits: 1023}, nil},
		"2048 bits":                 {"DHE", primeExchange(2048)[4:], keyExchange{dhBits: 2048}, nil},
		"zeros in front":            {"DHE", []byte{0, 4, 0, 0, 1, 0xFF}, keyExchange{dhBits: 9}, nil},
		"zeros alone":               {"DHE", []byte{0, 2, 0, 0}, keyExchange{}, ErrMalformed},
		"no prime":                  {"DHE", []byte{0, 0}, keyExchange{}, ErrMalformed},
		"half a prime":              {"DHE", []byte{1, 0, 5}, keyExchange{}, ErrMalformed},
		"a prime of RFC 7919":       {"DHE", ffdhe(3072), keyExchange{group: 257, dhBits: 3072}, nil},
		"of no size of RFC 7919":    {"DHE", ffdhe(1024), keyExchange{dhBits: 1024}, nil},
		"a hint and a curve":        {"ECDHE_PSK", append([]byte{0, 2, 'h', 'i'}, curveExchange(23)[4:]...), keyExchange{group: 23}, nil},
		"a hint and a prime":        {"DHE_PSK", append([]byte{0, 0}, primeExchange(1024)[4:]...), keyExchange{dhBits: 1024}, nil},
		"half a hint":               {"DHE_PSK", []byte{0, 9, 1}, keyExchange{}, ErrMalformed},
		"RSA of an export suite":    {"RSA", []byte{0, 1, 2}, keyExchange{}, nil},
		"SRP, whose prime is fixed": {"SRP", []byte{0, 1, 2}, keyExchange{}, nil},
	} {
		got, err := parseKeyExchange(Suite{KeyExchange: c.exchange}, c.body)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// Every length that says more than there is, or less, is malformed, and none of them panics.
func TestMalformedMessages(t *testing.T) {
	t.Parallel()
	hello := serverHello{version: TLS13, suite: 0x1301, group: 29, share: make([]byte, 32)}.marshal()[4:]
	plain := certificates{all: [][]byte{{1, 2, 3}, {4}}}.marshal()[4:]
	modern := certificates{all: [][]byte{{1, 2, 3}}, staple: []byte{1}, scts: [][]byte{{2}}}.marshal13()[4:]
	for name, c := range map[string]struct {
		whole []byte
		parse func([]byte) error
		// fine are the lengths at which a part of it is whole too.
		fine []int
	}{
		"ServerHello":         {hello, func(b []byte) error { _, err := parseServerHello(b); return err }, []int{2 + 32 + 8 + 3}},
		"Certificate":         {plain, func(b []byte) error { _, err := parseCertificates(b, TLS12); return err }, nil},
		"Certificate 1.3":     {modern, func(b []byte) error { _, err := parseCertificates(b, TLS13); return err }, nil},
		"EncryptedExtensions": {[]byte{0, 8, 0, 16, 0, 4, 0, 2, 1, 'h'}, func(b []byte) error { _, err := parseEncryptedExtensions(b); return err }, nil},
	} {
		if err := c.parse(c.whole); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for n := range c.whole {
			if err := c.parse(c.whole[:n]); (err == nil) != slices.Contains(c.fine, n) {
				t.Errorf("%s, %d of %d octets: %v", name, n, len(c.whole), err)
			}
		}
	}
	// An empty certificate, and two that are cut.
	for _, body := range []string{"000003000000", "000001", "00000400000500"} {
		b, _ := hex.DecodeString(body)
		if _, err := parseCertificates(b, TLS12); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestStatusOfAnotherKind(t *testing.T) {
	t.Parallel()
	if staple, ok := readStatus([]byte{2, 9, 9}); staple != nil || !ok {
		t.Errorf("%x, %v", staple, ok)
	}
	if staple, ok := readStatus(statusOf([]byte("ocsp"))); string(staple) != "ocsp" || !ok {
		t.Errorf("%x, %v", staple, ok)
	}
}

func TestFlightRefusesDisorder(t *testing.T) {
	t.Parallel()
	hello := serverHello{version: TLS12, suite: 0xC02F}.marshal()
	for name, messages := range map[string][][]byte{
		"certificates before the hello": {certificates{}.marshal()},
		"two hellos":                    {hello, hello},
	} {
		var stream []byte
		for _, m := range messages {
			stream = append(stream, m...)
		}
		var f flight
		r := &reader{from: bytes.NewReader(inRecord(TLS12, recordHandshake, stream))}
		err := f.readUntil(r, func(f *flight) bool { return f.done })
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// stream puts octets in records of a size.
func stream(kind byte, all []byte, size int) (records []byte) {
	for len(all) > 0 {
		n := min(size, len(all))
		records = append(records, inRecord(TLS12, kind, all[:n])...)
		all = all[n:]
	}
	return records
}

// Messages are the same whatever records they came in, and however slowly.
func TestFragments(t *testing.T) {
	t.Parallel()
	all := serverHello{version: TLS12, suite: 0xC02F}.marshal()
	all = append(all, certificates{all: [][]byte{make([]byte, 700)}}.marshal()...)
	all = append(append(all, inMessage(messageCertificateStatus, statusOf([]byte("ocsp")))...), curveExchange(29)...)
	all = append(append(all, inMessage(messageCertificateRequest, nil)...), inMessage(messageHelloDone, nil)...)
	for _, size := range []int{1, 3, 4, 5, 100, 1 << 14} {
		var f flight
		from := iotest.OneByteReader(bytes.NewReader(stream(recordHandshake, all, size)))
		err := f.readUntil(&reader{from: from}, func(f *flight) bool { return f.done })
		if err != nil || f.hello.suite != 0xC02F || len(f.all) != 1 || string(f.staple) != "ocsp" ||
			f.keyExchange.group != 29 || !f.requested {
			t.Errorf("records of %d octets: %+v, %v", size, f, err)
		}
	}
}

func TestReaderErrors(t *testing.T) {
	t.Parallel()
	hello := inRecord(TLS12, recordHandshake, serverHello{version: TLS12, suite: 5}.marshal())
	warning := inRecord(TLS12, recordAlert, []byte{1, alertUnrecognizedName})
	long := binary.BigEndian.AppendUint32(nil, messageServerHello<<24|MaxHandshake+1)
	for name, c := range map[string]struct {
		in   []byte
		want error
	}{
		"nothing":                        {nil, io.EOF},
		"a byte":                         {hello[:1], io.ErrUnexpectedEOF},
		"a header":                       {hello[:5], io.ErrUnexpectedEOF},
		"half a record":                  {hello[:20], io.ErrUnexpectedEOF},
		"a warning and the end":          {warning, io.ErrUnexpectedEOF},
		"an alert":                       {inRecord(TLS10, recordAlert, []byte{2, 70}), Alert{2, 70}},
		"an alert in two records":        {append(inRecord(TLS10, recordAlert, []byte{2}), inRecord(TLS10, recordAlert, []byte{70})...), Alert{2, 70}},
		"a warning and an alert in one":  {inRecord(TLS10, recordAlert, []byte{1, 112, 2, 40}), Alert{2, 40}},
		"a close":                        {inRecord(TLS10, recordAlert, []byte{1, 0}), Alert{1, 0}},
		"a level that there is not":      {inRecord(TLS10, recordAlert, []byte{9, 9}), Alert{9, 9}},
		"as many warnings as are passed": {append(bytes.Repeat(warning, maxWarnings), inRecord(TLS10, recordAlert, []byte{2, 47})...), Alert{2, 47}},
		"one more":                       {bytes.Repeat(warning, maxWarnings+1), ErrTooLong},
		"SSH":                            {[]byte("SSH-2.0-OpenSSH_9.2p1\r\n"), ErrNotTLS},
		"HTTP":                           {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), ErrNotTLS},
		"SMTP":                           {[]byte("220 mail.example.com ESMTP\r\n"), ErrNotTLS},
		"SSL 2.0":                        {[]byte{0x80, 0x03, 0, 0, 1}, ErrNotTLS},
		"another version":                {[]byte{22, 2, 0, 0, 1, 0}, ErrNotTLS},
		"a record too long":              {append([]byte{22, 3, 3, 0x48, 1}, make([]byte, 1<<15)...), ErrNotTLS},
		"application data":               {inRecord(TLS12, recordProtected, []byte("x")), ErrMalformed},
		"garbage after a record":         {append(bytes.Clone(warning), "garbage"...), ErrMalformed},
		"a message that is too long":     {inRecord(TLS12, recordHandshake, long), ErrTooLong},
		"empty records for ever":         {bytes.Repeat([]byte{22, 3, 3, 0, 0}, maxRecords+1), ErrTooLong},
		"records for ever":               {bytes.Repeat([]byte{20, 3, 3, 0, 1, 0}, 1<<15), ErrTooLong},
		"a message of many records":      {stream(recordHandshake, append([]byte{11, 1, 0xFF, 0}, make([]byte, 0x1FF00)...), 1000), ErrTooLong},
	} {
		if _, err := (&reader{from: bytes.NewReader(c.in)}).next(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// The bound is on what is read, to the octet.
func TestMaxHandshake(t *testing.T) {
	t.Parallel()
	const size = 1000
	for _, over := range []int{0, 1} {
		// One message that fills the records to the bound.
		records := MaxHandshake / (recordHeader + size)
		left := MaxHandshake - records*(recordHeader+size) - recordHeader
		body := make([]byte, records*size+left-4+over)
		raw := inMessage(messageCertificate, body)
		in := &reader{from: bytes.NewReader(append(stream(recordHandshake, raw[:records*size], size),
			inRecord(TLS12, recordHandshake, raw[records*size:])...))}
		m, err := in.next()
		if over == 0 && (err != nil || len(m.body) != len(body)) || over > 0 && !errors.Is(err, ErrTooLong) {
			t.Errorf("%d octets over: %d octets, %v", over, in.octets, err)
		}
	}
}
