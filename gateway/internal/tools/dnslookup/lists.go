package dnslookup

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/text/bound"
)

// list is the records of one type.
type list interface {
	// open makes it a list that was requested, which is never null.
	open()
	// sort puts it in one order, since resolvers rotate theirs and two runs should look alike.
	sort()
	// bound cuts what is longer than its share of the answer, in bytes of JSON.
	bound(share int, a *dnsclient.Answer, cut *bool)
}

// fit reports whether the records of an answer are certainly short enough, without a look at their texts: they weigh
// more in memory than their bytes, of which none takes more than six as JSON.
func fit(a *dnsclient.Answer, share int) bool { return 6*a.Weight() <= min(share, maxText) }

type addressList []string

func (l *addressList) open() { *l = []string{} }
func (l *addressList) sort() {
	slices.SortFunc(*l, func(a, b string) int { return netip.MustParseAddr(a).Compare(netip.MustParseAddr(b)) })
}
func (l *addressList) bound(share int, a *dnsclient.Answer, cut *bool) { boundPlain(l, share, a, cut) }

type nameList []string

func (l *nameList) open()                                           { *l = []string{} }
func (l *nameList) sort()                                           { slices.Sort(*l) }
func (l *nameList) bound(share int, a *dnsclient.Answer, cut *bool) { boundPlain(l, share, a, cut) }

type textList []string

func (l *textList) open() { *l = []string{} }
func (l *textList) sort() { slices.Sort(*l) }
func (l *textList) bound(share int, a *dnsclient.Answer, cut *bool) {
	if !fit(a, share) {
		*l = bound.Texts(*l, maxText, share, cut)
	}
}

type mxList []mxRecord

func (l *mxList) open() { *l = []mxRecord{} }
func (l *mxList) sort() {
	slices.SortFunc(*l, func(a, b mxRecord) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), strings.Compare(a.Exchange, b.Exchange))
	})
}
func (l *mxList) bound(share int, a *dnsclient.Answer, cut *bool) { boundPlain(l, share, a, cut) }

type soaList []soaRecord

func (l *soaList) open()                                           { *l = []soaRecord{} }
func (l *soaList) sort()                                           {}
func (l *soaList) bound(share int, a *dnsclient.Answer, cut *bool) { boundPlain(l, share, a, cut) }

// boundPlain is for records without a text that could be long.
func boundPlain[L ~[]T, T any](l *L, share int, a *dnsclient.Answer, cut *bool) {
	if !fit(a, share) {
		*l = bound.List([]T(*l), share, cut)
	}
}

// value is a record of a type that has its data in presentation form too.
type value[T any] interface {
	*T
	data() string
	rank() uint32
}

// valueList is a list of such records.
type valueList[T any, P value[T]] []T

func (l *valueList[T, P]) open() { *l = []T{} }

func (l *valueList[T, P]) sort() {
	slices.SortFunc(*l, func(a, b T) int {
		return cmp.Or(cmp.Compare(P(&a).rank(), P(&b).rank()), strings.Compare(P(&a).data(), P(&b).data()))
	})
}

func (l *valueList[T, P]) bound(share int, _ *dnsclient.Answer, cut *bool) {
	limits := bound.LimitsOf[T]()
	for i := range *l {
		*cut = limits.Enforce(&(*l)[i]) || *cut
		if service, ok := any(&(*l)[i]).(*serviceRecord); ok {
			service.boundParams(cut)
		}
	}
	*l = bound.List([]T(*l), share, cut)
}
