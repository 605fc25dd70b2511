package dnsdelegation

import (
	"encoding/json"
	"slices"
	"testing"

	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/progress"

	"github.com/miekg/dns"
)

// concluded runs a check and returns the conclusions that its stream has before the last line, and that line's.
func concluded(t *testing.T, tl tool.Tool, name string) (steps []finding.Conclusion, last finding.Conclusion) {
	t.Helper()
	var feed progress.Feed
	ctx := progress.With(t.Context(), &feed)
	done := make(chan Result, 1)
	go func() {
		got, err := toolstest.Run(ctx, tl, tool.Input{Text: name})
		if err != nil {
			t.Error(err)
		}
		r, _ := got.(Result)
		done <- r
	}()
	for at := uint64(0); ; {
		step, next, ok, changed := feed.Next(at)
		at = next
		switch {
		case ok && step.Kind == "conclusion":
			var c finding.Conclusion
			if err := json.Unmarshal(step.Value.(json.RawMessage), &c); err != nil {
				t.Fatal(err)
			}
			steps = append(steps, c)
		case ok:
		default:
			select {
			case <-changed:
			case r := <-done:
				return steps, r.Conclusion
			}
		}
	}
}

// A stream has the sentence that names a fault before the run has ended, and the last line has the same.
func TestConclusionSteps(t *testing.T) {
	t.Parallel()
	plain := func(serve func(*world), com ...string) func(*testing.T) tool.Tool {
		return func(t *testing.T) tool.Tool {
			w := newWorld(t, com...)
			serve(w)
			return w.tool(t)
		}
	}
	signed := func(ds func(*signer) string, zone, second func(*testing.T, *signer) string) func(*testing.T) tool.Tool {
		return func(t *testing.T) tool.Tool { return newSignedWorld(t, ds, zone, second).tool(t) }
	}
	all := func(answer func(dns.ResponseWriter, *dns.Msg)) func(*world) {
		return func(w *world) {
			w.NameServer(oneV4 + ":53").HandleAll(answer)
			w.NameServer(twoV4 + ":53").HandleAll(answer)
		}
	}
	otherKey := func(*signer) string { return newSigner(t, "example.com.").ds() }
	nowhere := func(*testing.T, *signer) string { return "" }
	for name, test := range map[string]struct {
		tool func(*testing.T) tool.Tool
		want string // the code, empty for no step
	}{
		"healthy":        {plain(func(w *world) { w.both(healthy()) }, twoServers...), ""},
		"not registered": {plain(func(*world) {}), "NOT_DELEGATED"},
		"all are silent": {plain(all(silent), twoServers...), "NO_SERVER_ANSWERS"},
		"all refuse":     {plain(all(refusing), twoServers...), "ALL_SERVERS_LAME"},
		"no address":     {plain(func(*world) {}, "example.com. IN NS ns1.example.com."), "NO_SERVER_ADDRESS"},
		"one is silent":  {plain(func(w *world) { w.scripted(silent) }, twoServers...), "SERVER_SILENT"},
		"one refuses":    {plain(func(w *world) { w.scripted(refusing) }, twoServers...), "SERVER_REFUSES"},
		"signed":         {signed((*signer).ds, signedZone, signedZone), ""},
		"bogus":          {signed(otherKey, signedZone, signedZone), "DNSSEC_DS_KEY_MISSING"},
		"expired":        {signed((*signer).ds, expired, expired), "DNSSEC_SIGNATURE_EXPIRED"},
		"no signature": {signed((*signer).ds, stripped("RRSIG", "\tMX "), stripped("RRSIG", "\tMX ")),
			"DNSSEC_SIGNATURE_MISSING"},
		"bogus beside a silent server": {signed(otherKey, signedZone, nowhere), "DNSSEC_DS_KEY_MISSING"},
		"an old server":                {signed((*signer).ds, signedZone, expired), "DNSSEC_SERVER_BOGUS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps, last := concluded(t, test.tool(t), "example.com")
			if test.want == "" {
				if len(steps) > 0 {
					t.Errorf("%+v", steps)
				}
				return
			}
			if len(steps) == 0 || steps[len(steps)-1].Code != last.Code || last.Code != test.want {
				t.Errorf("%+v, and at the end %+v; want %s", steps, last, test.want)
			}
		})
	}
}

// Of several faults each step has a worse one than the step before.
func TestConclusionsGetWorse(t *testing.T) {
	t.Parallel()
	f := func(code string) located { return located{Finding: rows.Find(code, "", nil)} }
	var feed progress.Feed
	ctx := progress.With(t.Context(), &feed)
	r := &run{}
	var got []string
	for _, code := range []string{codeSOA, codeSilent, codeTCP, codeSilent, codeLame, codeNoAnswer, codeLame} {
		r.conclude(ctx, []located{f(code)})
		step, _, ok, _ := feed.Next(0)
		var c finding.Conclusion
		if raw, is := step.Value.(json.RawMessage); ok && is {
			_ = json.Unmarshal(raw, &c)
		}
		got = append(got, c.Code)
	}
	want := []string{"", codeSilent, codeSilent, codeSilent, codeLame, codeNoAnswer, codeNoAnswer}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
