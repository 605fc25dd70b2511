package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"diagnostics/lab"
)

// recordZones have CAA and TLSA records: a signed one and one that is not.
var recordZones = []string{"lab-sec-issue.com", "lab-sec-issueplain.com"}

// records compares what ssl-checker finds of CAA and TLSA, and whether it is authenticated, with delv. The gateway's
// resolver is unbound.
func (p proof) records(ctx context.Context, s *lab.Service) error {
	anchors, err := p.delvAnchors()
	if err != nil {
		return err
	}
	gateway, err := s.StartGateway(ctx, "gateway-unbound", "DNS_RESOLVERS="+resolver.String(), "RATE_LIMIT_REQUESTS=0",
		"RATE_LIMIT_CLIENT_REQUESTS=0", "RATE_LIMIT_TARGET_REQUESTS=0", "RATE_LIMIT_ADDRESS_REQUESTS=0")
	if err != nil {
		return err
	}
	var errs []error
	for _, zone := range recordZones {
		ours, err := p.ourRecords(ctx, gateway.Addr, zone)
		if err != nil {
			return fmt.Errorf("%s: %w", zone, err)
		}
		theirs, err := p.delvRecords(ctx, anchors, zone)
		if err != nil {
			return fmt.Errorf("%s: delv: %w", zone, err)
		}
		fmt.Fprintf(p.out, "%-32s CAA and TLSA we %v delv %v\n", zone, ours, theirs)
		if !slices.Equal(ours, theirs) {
			errs = append(errs, fmt.Errorf("%s: ssl-checker finds %v, and delv %v", zone, ours, theirs))
		}
	}
	return errors.Join(errs...)
}

// ourRecords are the records of a zone as delv prints them, and whether the TLSA records are authenticated.
func (p proof) ourRecords(ctx context.Context, gateway, zone string) ([]string, error) {
	body, err := json.Marshal(map[string]string{"input": zone})
	if err != nil {
		return nil, err
	}
	var got struct {
		Data struct {
			CAA  struct{ Records []string }
			TLSA []struct {
				Usage, Selector, Matching int
				Data                      string
				Authenticated             bool
			}
		}
		Error string
	}
	if err := p.post(ctx, "http://"+gateway+"/api/tools/ssl-checker", body, &got); err != nil {
		return nil, err
	}
	found := slices.Clone(got.Data.CAA.Records)
	for _, r := range got.Data.TLSA {
		found = append(found, fmt.Sprintf("%d %d %d %s", r.Usage, r.Selector, r.Matching, strings.ToUpper(r.Data)),
			fmt.Sprintf("authenticated %t", r.Authenticated))
	}
	return found, failure(got.Error)
}

// delvRecords is ourRecords by delv.
func (p proof) delvRecords(ctx context.Context, anchors, zone string) (found []string, err error) {
	for _, question := range [][2]string{{zone, "CAA"}, {"_443._tcp." + zone, "TLSA"}} {
		out, err := p.inside(ctx, "delv", "@"+resolver.Addr().String(), "-4", "-a", anchors, "+root=.", "+nocrypto",
			"+nosplit", question[0], question[1]).Output()
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(out)) {
			if fields := strings.Fields(line); len(fields) > 4 && fields[3] == question[1] {
				found = append(found, strings.Join(fields[4:], " "))
			}
		}
		if question[1] == "TLSA" {
			found = append(found, fmt.Sprintf("authenticated %t", bytes.Contains(out, []byte("fully validated"))))
		}
	}
	return found, nil
}

// post sends a request to a gateway of the lab.
func (p proof) post(ctx context.Context, url string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	client := p.lab.HTTPClient()
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}
