package trace

import (
	"fmt"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const out = `traceroute to 11.91.0.1 (11.91.0.1), 30 hops max, 60 byte packets
 1  11.77.1.1  0.053 ms  0.004 ms  0.003 ms
 2  * * *
 3  11.78.4.1  20.459 ms * 20.466 ms
 4  11.78.6.1  45.739 ms 11.78.6.2  45.715 ms 11.78.6.1  45.712 ms
 5  11.77.8.1  63.065 ms !H  63.209 ms !H *
`
	want := "[[11.77.1.1] [] [11.78.4.1] [11.78.6.1 11.78.6.2] [11.77.8.1]]"
	if got := fmt.Sprint(Parse([]byte(out))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := fmt.Sprint(Parse([]byte(" 1  2a10:77:1::1  0.070 ms  0.006 ms *\n"))); got != "[[2a10:77:1::1]]" {
		t.Errorf("IPv6: %s", got)
	}
	if got := Parse(nil); len(got) != 0 {
		t.Errorf("nothing: %v", got)
	}
}

func TestParseReport(t *testing.T) {
	t.Parallel()
	const out = `Start: 2026-01-01T14:05:49+0000
HOST: vm                          Loss%   Snt   Last   Avg  Best  Wrst StDev
  1.|-- 11.77.1.1                  0.0%     3    0.1   0.2   0.1   0.3   0.1
  2.|-- ???                       100.0     3    0.0   0.0   0.0   0.0   0.0
  3.|-- 2a10:71::1                33.3%     3   20.6  20.9  20.4  21.6   0.7
`
	if got := fmt.Sprint(ParseReport([]byte(out))); got != "[{11.77.1.1 0} {invalid IP 100} {2a10:71::1 33.3}]" {
		t.Error(got)
	}
}
