package tlsscan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

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
