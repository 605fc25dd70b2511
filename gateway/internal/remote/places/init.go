package places

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"diagnostics/daemon/files"
)

// InitFlag is the gateway's flag that calls Init, InitDoc its help.
const (
	InitFlag = "init-place"
	InitDoc  = "create the token, key and self-signed certificate of PEER_LISTEN_ADDR in the files that " +
		"PEER_TOKEN_FILE, PEER_TLS_KEY_FILE and PEER_TLS_CERT_FILE name (else peer-token, peer-key.pem and " +
		"peer-cert.pem here), where they are missing, print what the other places need, and exit"
)

// certificateTime is the validity of the certificate. Other places trust the file itself, so a new one must be copied
// to each of them.
const certificateTime = 5 * 365 * 24 * time.Hour

// Init creates the token, key and certificate with which this place lets others in, and prints to out what those need.
// It overwrites nothing. env holds the settings, as os.Environ returns them.
func Init(env []string, out io.Writer) error {
	token := valueOf(env, "PEER_TOKEN_FILE", "peer-token")
	key := valueOf(env, "PEER_TLS_KEY_FILE", "peer-key.pem")
	cert := valueOf(env, "PEER_TLS_CERT_FILE", "peer-cert.pem")
	hasKey, hasCert := exists(key), exists(cert)
	if hasKey != hasCert {
		return errors.New("only one of the key and the certificate exists: remove it, or put the other beside it")
	}
	if !exists(token) {
		if err := writeNew(token, []byte(rand.Text()+"\n")); err != nil {
			return fmt.Errorf("the token cannot be written: %w", err)
		}
	}
	if !hasKey {
		if err := makeCertificate(key, cert, certificateNames(env)); err != nil {
			return err
		}
	}
	content, err := os.ReadFile(cert) // #nosec G304 G703 -- the operator chose it
	if err != nil {
		return fmt.Errorf("the certificate cannot be read: %w", files.WithoutPath(err))
	}
	chain, err := files.Certificates(content)
	if err != nil {
		return fmt.Errorf("the certificate: %w", err)
	}
	_, err = fmt.Fprintf(out, "token        %s\nkey          %s\ncertificate  %s\nSHA-256      %X\n"+
		"The other places need the token and the certificate (tokenFile and caFile of their PLACES_FILE).\n",
		token, key, cert, sha256.Sum256(chain[0].Raw))
	return err
}

// valueOf returns the value of a setting, or otherwise if it is unset or empty.
func valueOf(env []string, name, otherwise string) string {
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, name+"="); ok && value != "" {
			return value
		}
	}
	return otherwise
}

func exists(path string) bool {
	_, err := os.Lstat(path) // #nosec G703 -- the operator chose it
	return !errors.Is(err, fs.ErrNotExist)
}

// writeNew creates a file that only its owner can read, and fails if it exists.
func writeNew(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 G703 -- as above
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

func makeCertificate(keyPath, certPath string, names []string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "network diagnostics place"},
		// The clocks of the other places may be behind.
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(certificateTime),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if a, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
			template.IPAddresses = append(template.IPAddresses, a.AsSlice())
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writeNew(keyPath, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})); err != nil {
		return fmt.Errorf("the key cannot be written: %w", err)
	}
	if err := writeNew(certPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})); err != nil {
		return fmt.Errorf("the certificate cannot be written: %w", err)
	}
	return nil
}

// certificateNames returns the names of PEER_TLS_NAMES, or the name and the addresses of this host.
func certificateNames(env []string) []string {
	if given := valueOf(env, "PEER_TLS_NAMES", ""); given != "" {
		return strings.FieldsFunc(given, func(r rune) bool { return r == ',' || r == ' ' })
	}
	names := []string{"localhost"}
	if host, err := os.Hostname(); err == nil && host != "" && host != "localhost" {
		names = append(names, host)
	}
	own, _ := net.InterfaceAddrs()
	for _, a := range own {
		if p, err := netip.ParsePrefix(a.String()); err == nil && !p.Addr().IsLinkLocalUnicast() {
			names = append(names, p.Addr().String())
		}
	}
	return names
}
