package httpapi

import (
	"net/url"
	"strconv"
	"time"

	"diagnostics/shared/ascii"

	"github.com/labstack/echo/v4"
)

// sampleData is what the browser's connection tools time. It is small on purpose: the sample measures the network, not
// the service.
type sampleData struct {
	Probe      string `json:"probe"`
	N          *int   `json:"n"`
	ServerTime string `json:"serverTime"`
}

const longestN = 9 // digits

var errSampleNumber = badRequest("SAMPLE_NUMBER")

// sample answers one connection route. It has a bucket of its own and takes no slot among the runs.
func (s *Server) sample(probe string) func(echo.Context, *requestContext) (any, error) {
	return func(c echo.Context, rc *requestContext) (any, error) {
		n, err := sampleNumber(c.Request().URL.RawQuery)
		if err != nil {
			return nil, err
		}
		if err := s.chargeSample(c, rc); err != nil {
			return nil, err
		}
		return sampleData{Probe: probe, N: n, ServerTime: s.config.Now().UTC().Format(time.RFC3339Nano)}, nil
	}
}

// sampleNumber reads n, nil where it is absent. Other parameters are ignored.
func sampleNumber(rawQuery string) (*int, error) {
	if rawQuery == "" {
		return nil, nil
	}
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return nil, errSampleNumber
	}
	values, given := query["n"]
	if !given {
		return nil, nil
	}
	if len(values) != 1 || !ascii.AllDigits(values[0]) || len(values[0]) > longestN {
		return nil, errSampleNumber
	}
	n, err := strconv.Atoi(values[0])
	if err != nil {
		return nil, errSampleNumber
	}
	return &n, nil
}
