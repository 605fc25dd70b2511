package tlsscan

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	recordHeader = 5
	// maxRecord is the longest body of a record (RFC 5246 section 6.2.3).
	maxRecord = 1<<14 + 2048
	// maxRecords is how many records are read at most; an honest flight has a dozen.
	maxRecords = 4000
	// maxWarnings is how many alerts are passed over.
	maxWarnings = 16
)

// The alerts that are distinguished (RFC 8446 section 6).
const (
	alertWarning          = 1
	alertClose            = 0
	alertHandshakeFailure = 40
	alertProtocolVersion  = 70
	alertUnrecognizedName = 112
)

// message is one of the handshake; raw is all of it, body less its header.
type message struct {
	kind      byte
	raw, body []byte
}

// reader gives the messages of a server's handshake, whatever records they came in.
type reader struct {
	from io.Reader
	// in opens protected records, once there are keys.
	in *opener

	handshake []byte // what has come and not been given
	alert     []byte // the part of an alert that has come
	octets    int
	records   int
	warnings  int
}

// next gives the next message. Errors are an Alert, io.EOF where the server closed the connection before it sent
// anything and io.ErrUnexpectedEOF where it did so later, ErrNotTLS, ErrTooLong, ErrMalformed, and those of the
// connection.
func (r *reader) next() (message, error) {
	for {
		m, err := r.take()
		if err != nil || m.raw != nil {
			return m, err
		}
		if err := r.readRecord(); err != nil {
			return message{}, err
		}
	}
}

// take gives the first message of what has come; one without raw where there is none.
func (r *reader) take() (message, error) {
	const header = 4
	if len(r.handshake) < header {
		return message{}, nil
	}
	length := uint24(r.handshake[1:])
	if length > MaxHandshake {
		return message{}, ErrTooLong
	}
	if len(r.handshake) < header+length {
		return message{}, nil
	}
	raw := r.handshake[:header+length]
	r.handshake = r.handshake[header+length:]
	return message{kind: raw[0], raw: raw, body: raw[header:]}, nil
}

// readRecord reads one record and puts its content where it belongs.
func (r *reader) readRecord() error {
	header := make([]byte, recordHeader)
	if err := r.read(header); err != nil {
		return err
	}
	kind, length := header[0], int(binary.BigEndian.Uint16(header[3:]))
	if kind < recordChangeCipher || kind > recordProtected || header[1] != 3 || length > maxRecord {
		if r.records == 0 {
			return ErrNotTLS
		}
		return ErrMalformed
	}
	if r.records++; r.records > maxRecords {
		return ErrTooLong
	}
	body := make([]byte, length)
	if err := r.read(body); err != nil {
		return err
	}
	switch {
	case r.in == nil:
	case kind == recordHandshake:
		return ErrMalformed
	case kind == recordProtected:
		var err error
		if kind, body, err = r.in.open(header, body); err != nil {
			return err
		}
	}
	return r.put(kind, body)
}

// read fills a slice. What may still come is bounded before it is waited for.
func (r *reader) read(into []byte) error {
	if r.octets+len(into) > MaxHandshake {
		return ErrTooLong
	}
	n, err := io.ReadFull(r.from, into)
	r.octets += n
	if errors.Is(err, io.EOF) && r.octets > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (r *reader) put(kind byte, body []byte) error {
	switch kind {
	case recordHandshake:
		r.handshake = append(r.handshake, body...)
	case recordAlert:
		return r.putAlert(body)
	case recordChangeCipher: // which TLS 1.3 has for middleboxes
	default:
		return ErrMalformed
	}
	return nil
}

// putAlert passes over warnings, such as unrecognized_name.
func (r *reader) putAlert(body []byte) error {
	r.alert = append(r.alert, body...)
	for ; len(r.alert) >= 2; r.alert = r.alert[2:] {
		alert := Alert{Level: r.alert[0], Description: r.alert[1]}
		if alert.Level != alertWarning || alert.Description == alertClose {
			return alert
		}
		if r.warnings++; r.warnings > maxWarnings {
			return ErrTooLong
		}
	}
	return nil
}
