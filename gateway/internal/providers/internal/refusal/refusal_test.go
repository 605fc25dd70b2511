package refusal

import (
	"strings"
	"testing"
)

func TestTooMany(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Error: max. requests per second exceeded":                                 true,
		"Query too fast, slow down":                                                true,
		"% Maximum queries per hour reached\n":                                     true,
		"Error: 55000000002 Connection refused; access control limit exceeded.":    true,
		"WHOIS LIMIT EXCEEDED - SEE WWW.EXAMPLE.COM/WHOIS FOR DETAILS":             true,
		"%\n% Excessive querying, grace period of 300 seconds.\n":                  true,
		"You have exceeded allowed connection rate.":                               true,
		"Queried interval is too short.":                                           true,
		"Number of allowed queries exceeded.":                                      true,
		"Your request rate is too high":                                            true,
		"You are querying too frequently; please wait.":                            true,
		"Lookup quota exceeded: 31/30":                                             true,
		"request throttled":                                                        true,
		"-1: IP address is rate limited":                                           true,
		"Server is busy now, please try again later.":                              false,
		"Your address is temporarily blocked.":                                     true,
		"Domain: x.example\nStatus: free\n":                                        false,
		"This is a reserved name and can not be registered":                        false,
		"The number of queries is limited. Clients that exceed it may be blocked.": false,
		"You must not exceed the limit of 10 queries.":                             false,
		"Good morning.": false,
		"The maximum length of a name is 63 characters.": false,
		"Rated high by many.":                            false,
		"":                                               false,
		"% " + strings.Repeat("terms ", 60) + "too many requests are forbidden": false,
		strings.Repeat("x\n", MaxText/2-12) + "\ntoo many queries\n":            true,
		strings.Repeat("x\n", MaxText/2) + "too many queries":                   false,
	} {
		if _, got := TooMany(text); got != want {
			t.Errorf("%.80q: %t", text, got)
		}
	}
}

func TestReserved(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"% Notice\n% This is a reserved name and can not be registered\n": "This is a reserved name and can not be registered",
		"The domain cannot be registered.":                                "The domain cannot be registered.",
		"This name may not be registered":                                 "This name may not be registered",
		"This name is not available for registration":                     "This name is not available for registration",
		"Registry Reserved":                                               "Registry Reserved",
		"Name is withheld by the registry":                                "Name is withheld by the registry",
		"Status: RESERVED":                                                "Status: RESERVED",
		"This domain is blocked.":                                         "This domain is blocked.",
		"Registration of this label is not permitted.":                    "Registration of this label is not permitted.",
		"domain unavailable for registration":                             "domain unavailable for registration",
		"The domain has not been registered":                              "",
		"No match for example.org":                                        "",
		"Copyright Registry. All rights reserved.":                        "",
		"The registry reserves the right to change its names.":            "",
		"Use of registration data for advertising is not permitted.":      "",
		"Reserved names may be blocked if they are offensive.":            "",
		"too many queries":                                                "",
		"":                                                                "",
	} {
		if got, found := Reserved(text); got != want || found != (want != "") {
			t.Errorf("%q: %q, %t", text, got, found)
		}
	}
}

func FuzzRefusal(f *testing.F) {
	f.Add("Error: max. requests per second exceeded\r\n")
	f.Add("% This is a reserved name\n\tand can not be registered.")
	f.Add("too\x00 many \xff ;.!")
	f.Fuzz(func(t *testing.T, text string) {
		for _, recognise := range []func(string) (string, bool){TooMany, Reserved} {
			line, found := recognise(text)
			if !found && line != "" || strings.ContainsAny(line, "\r\n") || len(line) > maxLine ||
				!strings.Contains(text, line) || found && len(text) > MaxText {
				t.Errorf("%q: %q, %t", text, line, found)
			}
		}
	})
}
