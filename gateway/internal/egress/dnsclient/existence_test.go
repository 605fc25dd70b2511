package dnsclient

import (
	"slices"
	"testing"

	"github.com/miekg/dns"
)

func TestExistenceOf(t *testing.T) {
	t.Parallel()
	type answers map[uint16]string
	for name, c := range map[string]struct {
		answers                      answers
		exists, absent, contradicted bool
	}{
		"records":                   {answers{dns.TypeA: ""}, true, false, false},
		"NODATA":                    {answers{dns.TypeMX: CodeNoData}, true, false, false},
		"A and AAAA denied":         {answers{dns.TypeA: CodeNotFound, dns.TypeAAAA: CodeNotFound}, false, true, false},
		"all denied":                {answers{dns.TypeA: CodeNotFound, dns.TypeAAAA: CodeNotFound, dns.TypeMX: CodeNotFound}, false, true, false},
		"A alone denied":            {answers{dns.TypeA: CodeNotFound}, false, false, false},
		"AAAA failed":               {answers{dns.TypeA: CodeNotFound, dns.TypeAAAA: CodeTimeout}, false, false, false},
		"MX alone denied":           {answers{dns.TypeMX: CodeNotFound}, false, false, false},
		"A exists, the rest denied": {answers{dns.TypeA: "", dns.TypeAAAA: CodeNotFound, dns.TypeMX: CodeNotFound}, true, false, true},
		"MX exists, A, AAAA denied": {answers{dns.TypeA: CodeNotFound, dns.TypeAAAA: CodeNotFound, dns.TypeMX: CodeNoData}, true, false, true},
		"an alias alone":            {answers{dns.TypeCNAME: ""}, true, false, false},
		"an alias without a target": {answers{dns.TypeCNAME: "", dns.TypeA: CodeNotFound, dns.TypeAAAA: CodeNotFound}, false, true, false},
		"an alias with a target":    {answers{dns.TypeCNAME: "", dns.TypeA: "", dns.TypeAAAA: CodeNotFound}, true, false, true},
		"everything failed":         {answers{dns.TypeA: CodeServFail, dns.TypeAAAA: CodeServFail}, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var types []uint16
			var list []Answer
			for qtype, code := range c.answers {
				types, list = append(types, qtype), append(list, Answer{Code: code})
			}
			got := ExistenceOf(types, list)
			if got.Exists != c.exists || got.Absent != c.absent || got.Contradicts() != c.contradicted {
				t.Errorf("%+v", got)
			}
			if slices.Contains(got.Denied, dns.TypeCNAME) {
				t.Error("CNAME counts as denied")
			}
		})
	}
}
