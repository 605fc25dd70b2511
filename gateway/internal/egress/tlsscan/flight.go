package tlsscan

// flight is what has come of a server's first flight.
type flight struct {
	gotServerHello bool // a ServerHello
	hello          serverHello
	suite          Suite

	certified bool // a Certificate message
	certificates
	keyExchange keyExchange
	requested   bool
	done        bool
}

// take reads a message of the flight up to TLS 1.2, or of TLS 1.3 once its records are open.
func (f *flight) take(m message) (err error) {
	if !f.gotServerHello && m.kind != messageServerHello {
		return ErrMalformed
	}
	switch m.kind {
	case messageServerHello:
		if f.gotServerHello {
			return ErrMalformed
		}
		f.hello, err = parseServerHello(m.body)
		if f.gotServerHello = err == nil; f.gotServerHello {
			f.suite, _ = SuiteByID(f.hello.suite)
			f.scts = f.hello.scts
		}
	case messageEncryptedExtensions:
		f.hello.alpn, err = parseEncryptedExtensions(m.body)
	case messageCertificate:
		err = f.takeCertificates(m.body)
	case messageCertificateStatus:
		var ok bool
		if f.staple, ok = readStatus(m.body); !ok {
			err = ErrMalformed
		}
	case messageKeyExchange:
		f.keyExchange, err = parseKeyExchange(f.suite, m.body)
	case messageCertificateRequest:
		f.requested = true
	case messageHelloDone:
		f.done = true
	}
	return err
}

func (f *flight) takeCertificates(body []byte) error {
	c, err := parseCertificates(body, f.hello.version)
	if err != nil {
		return err
	}
	if f.hello.version != TLS13 {
		c.scts = f.scts
	}
	f.certificates, f.certified = c, true
	return nil
}

// readUntil reads messages until enough has come.
func (f *flight) readUntil(r *reader, enough func(*flight) bool) error {
	for !enough(f) {
		m, err := r.next()
		if err != nil {
			return err
		}
		if err := f.take(m); err != nil {
			return err
		}
	}
	return nil
}

// hasKeyExchange reports whether enough has come where the group or the prime matters too.
func hasKeyExchange(f *flight) bool {
	if !f.gotServerHello || f.done || f.hello.version == TLS13 {
		return f.gotServerHello
	}
	switch f.suite.KeyExchange {
	case "ECDHE", "DHE", "ECDHE_PSK", "DHE_PSK":
		return f.keyExchange != keyExchange{}
	}
	return true
}

// shown returns the flight as far as it has come.
func (f *flight) shown() Flight {
	return Flight{
		Version: f.hello.version, Suite: f.suite, Group: f.group(), DHBits: f.keyExchange.dhBits,
		Certificates: f.all, Staple: f.staple, SCTs: f.scts,
		ClientRequested: f.requested, ALPN: f.hello.alpn,
	}
}
