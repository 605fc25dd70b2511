package tlsscan

import (
	"bytes"
	"encoding/hex"
	"net"
)

// Recorder is a connection below a client of crypto/tls. It keeps what the server sends, up to MaxHandshake octets:
// crypto/tls shows no certificates where it rejects one of them or where the handshake ends early.
type Recorder struct {
	net.Conn
	// KeyLog is the client's Config.KeyLogWriter. The certificates of TLS 1.3 are read by these keys.
	KeyLog bytes.Buffer

	wire []byte
}

// Read is that of net.Conn. It is for one reader, the handshake.
func (r *Recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.wire = append(r.wire, p[:min(n, MaxHandshake-len(r.wire))]...)
	return n, err
}

// Flight returns what the server has sent, up to its certificates. Where err is not nil, there are only those of them
// that came whole before the error: an Alert, io.EOF or io.ErrUnexpectedEOF where the server sent no more, ErrNotTLS,
// ErrTooLong, ErrMalformed.
func (r *Recorder) Flight() (Flight, error) {
	var f flight
	in := reader{from: bytes.NewReader(r.wire)}
	err := r.readInto(&f, &in)
	if f.gotServerHello && !f.certified && len(in.handshake) > 4 && in.handshake[0] == messageCertificate {
		f.certificates, _ = parseCertificates(in.handshake[4:], f.hello.version)
	}
	return f.shown(), err
}

// readInto reads up to the certificates. From the ServerHello of TLS 1.3 on records are protected.
func (r *Recorder) readInto(f *flight, in *reader) error {
	for !f.certified {
		m, err := in.next()
		if err != nil {
			return err
		}
		if f.hello.retry {
			*f = flight{} // the requested second hello follows
		}
		if err := f.take(m); err != nil {
			if f.gotServerHello && m.kind == messageCertificate {
				f.certificates, _ = parseCertificates(m.body, f.hello.version)
			}
			return err
		}
		if f.hello.version == TLS13 && !f.hello.retry && in.in == nil {
			in.handshake = nil
			if in.in, err = r.opener(f.hello.suite); err != nil {
				return err
			}
		}
	}
	return nil
}

// opener opens the server's part of a handshake of TLS 1.3. It fails with ErrMalformed where its keys are not known.
func (r *Recorder) opener(suite uint16) (*opener, error) {
	protection, known := protections[suite]
	for line := range bytes.Lines(r.KeyLog.Bytes()) {
		words := bytes.Fields(line)
		if !known || len(words) != 3 || string(words[0]) != "SERVER_HANDSHAKE_TRAFFIC_SECRET" {
			continue
		}
		if secret, err := hex.DecodeString(string(words[2])); err == nil {
			return protection.traffic(secret)
		}
	}
	return nil, ErrMalformed
}
