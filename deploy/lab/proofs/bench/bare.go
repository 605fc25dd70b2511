package main

import (
	"encoding/json"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
)

// recorded is one answer of the gateway, which the bare server repeats.
type recorded struct {
	Header http.Header
	Body   []byte
}

// serveBare is what the framework alone can do: Echo, a route, the same headers and bytes as the gateway's answer. It
// looks at nothing that it is sent.
func serveBare(address, answers string) error {
	text, err := os.ReadFile(answers)
	if err != nil {
		return err
	}
	var routes map[string]recorded
	if err := json.Unmarshal(text, &routes); err != nil {
		return err
	}
	e := echo.New()
	for path, answer := range routes {
		kind := answer.Header.Get(echo.HeaderContentType)
		e.POST(path, func(c echo.Context) error {
			for name, values := range answer.Header {
				c.Response().Header()[name] = values
			}
			return c.Blob(http.StatusOK, kind, answer.Body)
		})
	}
	server := &http.Server{Addr: address, Handler: e}
	return server.ListenAndServe()
}
