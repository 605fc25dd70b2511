package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// probeTimeout bounds a probe of the public address, name lookup and handshake included.
const probeTimeout = 10 * time.Second

// probedCertificate is the metric that Probe prints.
const probedCertificate = "diagnostics_probe_certificate_expiry_timestamp_seconds"

// Probe requests an https URL as a visitor's browser does, and prints when the certificate of the host expires, as one
// line of Prometheus' text format. A certificate that is not valid, an answer that is no success, and a URL that is not
// of https are errors.
func Probe(ctx context.Context, address string, config *tls.Config, stdout io.Writer) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return errors.New("-probe takes an https URL without user and password")
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	client := &http.Client{
		Transport:     &http.Transport{Proxy: nil, DisableKeepAlives: true, TLSClientConfig: config},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("probe: %s answers %d", u.Redacted(), resp.StatusCode)
	}
	_, err = fmt.Fprintf(stdout, "%s{url=%s} %d\n", probedCertificate, strconv.Quote(u.String()),
		resp.TLS.PeerCertificates[0].NotAfter.Unix())
	return err
}
