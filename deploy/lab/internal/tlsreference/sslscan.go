package tlsreference

import (
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"diagnostics/lab/internal/tlsserver"
)

// sslscanReport is what sslscan writes, as far as it is held against the truth.
type sslscanReport struct {
	Test struct {
		Protocols []struct {
			Type    string `xml:"type,attr"`
			Version string `xml:"version,attr"`
			Enabled int    `xml:"enabled,attr"`
		} `xml:"protocol"`
		Ciphers []struct {
			Status  string `xml:"status,attr"`
			Version string `xml:"sslversion,attr"`
			ID      string `xml:"id,attr"`
			DHBits  int    `xml:"dhebits,attr"`
		} `xml:"cipher"`
		Groups []struct {
			Name string `xml:"name,attr"`
		} `xml:"group"`
	} `xml:"ssltest"`
}

// Sslscan probes with sslscan, which writes its report to the file.
func (c Client) Sslscan(ctx context.Context, s tlsserver.Server, address, file string) (Seen, error) {
	args := []string{"--no-colour", "--no-heartbleed", "--no-renegotiation", "--no-fallback",
		"--no-compression", "--xml=" + file, "--sni-name=" + s.Host}
	if starttls := map[int]string{25: "smtp", 110: "pop3", 143: "imap"}[s.Port]; starttls != "" {
		args = append(args, "--starttls-"+starttls)
	}
	out, err := c.Run(ctx, "sslscan", append(args, address)...)
	if err != nil {
		return Seen{}, fmt.Errorf("sslscan: %w: %.300s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return Seen{}, err
	}
	var report sslscanReport
	if err := xml.Unmarshal(text, &report); err != nil {
		return Seen{}, fmt.Errorf("sslscan's report: %w", err)
	}
	return report.seen(s.Truth)
}

func (r sslscanReport) seen(t tlsserver.Truth) (Seen, error) {
	seen := Seen{Suites: map[string][]string{}, Loose: true,
		Untold: []string{"sent", "trust", "staple", "client", "nameless"}}
	for _, p := range r.Test.Protocols {
		if p.Enabled == 1 {
			name := map[string]string{"ssl": "SSLv", "tls": "TLSv"}[p.Type] + p.Version
			seen.Suites[name] = []string{}
		}
	}
	ids, err := knownIDs()
	if err != nil {
		return seen, err
	}
	for _, cipher := range r.Test.Ciphers {
		id, err := strconv.ParseUint(strings.TrimPrefix(cipher.ID, "0x"), 16, 16)
		if err != nil {
			return seen, err
		}
		name := ids[uint16(id)]
		if name == "" {
			name = cipher.ID
		}
		if !t.VersionsOnly {
			seen.Suites[cipher.Version] = append(seen.Suites[cipher.Version], name)
		}
		if cipher.DHBits > 0 && (seen.DHBits == 0 || cipher.DHBits < seen.DHBits) {
			seen.DHBits = cipher.DHBits
		}
	}
	for _, group := range r.Test.Groups {
		name, _, _ := strings.Cut(group.Name, " ")
		if !slices.Contains(seen.Groups, name) && !t.VersionsOnly {
			seen.Groups = append(seen.Groups, name)
		}
	}
	return seen, nil
}
