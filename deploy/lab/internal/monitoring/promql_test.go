package monitoring

import (
	"slices"
	"testing"
)

func TestNamesIn(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]Names{
		`up`:                                {Selectors: []string{"up"}},
		`up == 0`:                           {Selectors: []string{"up"}},
		`-up{job="a b"}`:                    {Selectors: []string{`up{job="a b"}`}},
		`{job="gateway"}`:                   {Selectors: []string{`{job="gateway"}`}},
		`time() - x`:                        {Selectors: []string{"x"}},
		`vector(1)`:                         {},
		`1e15 + 0x1f`:                       {},
		`rate(a_total[5m] offset 1d) > 0.5`: {Selectors: []string{"a_total"}},
		`rate(a_total{x=~"b}|c", y!="sum(d)"}[1d:5m])`: {Selectors: []string{`a_total{x=~"b}|c",y!="sum(d)"}`}},
		`a{b='c"d}'} or e`:                                       {Selectors: []string{`a{b='c"d}'}`, "e"}},
		`a unless on () b and ignoring(c, d) e`:                  {Selectors: []string{"a", "b", "e"}, Labels: []string{"c", "d"}},
		`sum by (le, slug) (rate(x_bucket[5m]))`:                 {Selectors: []string{"x_bucket"}, Labels: []string{"le", "slug"}},
		`sum(x) without(y) / on(z) group_left(w) count(v)`:       {Selectors: []string{"x", "v"}, Labels: []string{"y", "z", "w"}},
		`histogram_quantile(0.95, sum by(le)(x:rate5m{y=""}))`:   {Selectors: []string{`x:rate5m{y=""}`}, Labels: []string{"le"}},
		"max by (a) (\n  b{\n    c=\"d\"\n  }\n) > bool 0.8 * e": {Selectors: []string{`b{c="d"}`, "e"}, Labels: []string{"a"}},
		`COUNT BY (a) (B)`:                                       {Selectors: []string{"B"}, Labels: []string{"a"}},
	} {
		got := NamesIn(expression)
		if !slices.Equal(got.Selectors, want.Selectors) || !slices.Equal(got.Labels, want.Labels) {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}
