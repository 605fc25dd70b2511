package tools

import (
	"slices"
	"testing"
	"time"

	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/httpheaders"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/gateway/internal/tools/redirectchecker"
	"diagnostics/gateway/internal/tools/robotssitemap"
	"diagnostics/gateway/internal/tools/securityheaders"
	"diagnostics/gateway/internal/tools/uptime"
)

// What browsers skip in a response is a finding of the site, once, and breaks nothing.
func TestNotesAreFindings(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	toolstest.ServeRaw(n, toolstest.WebV4Port80, "HTTP/1.1 200 OK\r\n<!DOCTYPE html>\r\nContent-Type: text/plain\r\n"+
		"Content-Length: 2\r\nContent-Length: 2\r\n\r\n#\n")
	client := n.Client(nil)
	for _, tl := range []tool.Tool{httpheaders.New(client), uptime.New(client), securityheaders.New(client, time.Now),
		robotssitemap.New(client), redirectchecker.New(client)} {
		result, err := toolstest.Run(t.Context(), tl, toolstest.URLInput("http://example.com/"))
		if err != nil {
			t.Fatal(err)
		}
		fields := toolstest.Fields(t, result)
		severities := map[string][]string{}
		for _, f := range fields["findings"].([]any) {
			f := f.(map[string]any)
			code := f["code"].(string)
			severities[code] = append(severities[code], f["severity"].(string)+" "+f["group"].(string))
		}
		if !slices.Equal(severities["HEADER_LINE_SKIPPED"], []string{"warn safer"}) ||
			!slices.Equal(severities["CONTENT_LENGTH_REPEATED"], []string{"info note"}) {
			t.Errorf("%s: %v", tl.Slug(), severities)
		}
		if state := fields["conclusion"].(map[string]any)["state"]; state == "fail" {
			t.Errorf("%s: %v", tl.Slug(), fields["conclusion"])
		}
	}
}
