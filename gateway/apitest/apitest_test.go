package apitest

import (
	"net/http"
	"strings"
	"testing"

	"diagnostics/gateway/internal/apidoc/openapi"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/myip"
)

func load(t *testing.T) *Description {
	t.Helper()
	text, err := openapi.Document([]tool.Tool{myip.New()})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const id = "3f1c2a4e-98b0-4f4c-9a55-3c0d5a0e1b11"

func answer(status int, contentType string, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {contentType}, "X-Request-Id": {id}}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h}
}

// A check that cannot fail holds nothing: each case breaks one promise.
func TestCheckCanFail(t *testing.T) {
	t.Parallel()
	const path = "/api/tools/my-ip"
	const envelope = `,"durationMs":1.5,"requestId":"` + id + `"}`
	good := `{"data":{"conclusion":{"state":"ok","code":"ADDRESS_SHOWN","message":"x.","brief":"x","meaning":null,"args":{}},"findings":[],"available":true,"ip":"192.0.2.1","version":4,"reason":null}` + envelope
	tests := []struct {
		name, path string
		resp       *http.Response
		body       string
		wrong      string
	}{
		{"good", path, answer(200, "application/json"), good, ""},
		{"good error", path, answer(400, "application/json"), `{"error":"x."` + envelope, ""},
		{"unknown path", "", answer(404, "application/json"), `{"error":"x."` + envelope, ""},
		{"wrong type", path, answer(200, "application/json"), strings.Replace(good, "true", `"yes"`, 1), "available"},
		{"null where none may be", path, answer(200, "application/json"), strings.Replace(good, "true", "null", 1), "available"},
		{"missing field", path, answer(200, "application/json"), strings.Replace(good, `,"reason":null`, "", 1), "reason"},
		{"unknown field in data", path, answer(200, "application/json"), strings.Replace(good, `"reason"`, `"extra":1,"reason"`, 1), "extra"},
		{"unknown field in the envelope", path, answer(200, "application/json"), strings.Replace(good, `,"durationMs"`, `,"extra":1,"durationMs"`, 1), "extra"},
		{"value outside the enum", path, answer(200, "application/json"), strings.Replace(good, ":4", ":5", 1), "version"},
		{"data beside error", path, answer(400, "application/json"), `{"data":{},"error":"x."` + envelope, "data"},
		{"negative duration", path, answer(200, "application/json"), strings.Replace(good, "1.5", "-1", 1), "durationMs"},
		{"other id in the header", path, answer(200, "application/json", "X-Request-Id", strings.Replace(id, "3f", "4f", 1)), good, "id"},
		{"id of another form", path, answer(200, "application/json", "X-Request-Id", "x"), good, "X-Request-Id"},
		{"status not described", path, answer(418, "application/json"), good, "418"},
		{"media type", path, answer(200, "text/html"), good, "text/html"},
		{"429 without Retry-After", path, answer(429, "application/json"), `{"error":"x."` + envelope, "Retry-After"},
		{"429 with a time of 0", path, answer(429, "application/json", "Retry-After", "0"), `{"error":"x."` + envelope, "Retry-After"},
		{"405 without Allow", path, answer(405, "application/json"), `{"error":"x."` + envelope, "Allow"},
		{"path not described", "/api/tools/none", answer(200, "application/json"), good, "none"},
		{"not JSON", path, answer(200, "application/json"), "<html>", "body"},
		{"unknown path that answers 200", "", answer(200, "application/json"), good, "200"},
	}
	d := load(t)
	for _, tt := range tests {
		err := d.Check("POST", tt.path, tt.resp, []byte(tt.body))
		if tt.wrong == "" && err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
			t.Errorf("%s: %v does not tell of %s", tt.name, err, tt.wrong)
		}
	}
}

func TestLoadCanFail(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"not YAML":    "a: [",
		"not OpenAPI": "a: b",
		"wrong example": `{openapi: 3.1.0, info: {title: x, version: "1"}, paths: {/x: {get: {responses: {"200": {description: x, content: {application/json:
			{schema: {type: integer}, example: text}}}}}}}}`,
		"broken reference": `{openapi: 3.1.0, info: {title: x, version: "1"}, paths: {/x: {get: {responses: {"200": {$ref: '#/components/responses/None'}}}}}}`,
	} {
		if _, err := Load([]byte(text)); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}
