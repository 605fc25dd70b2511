package tlsscan

import (
	"context"
	"errors"
	"io"
	"slices"
)

func (r *run) probeVersions(ctx context.Context) {
	answers := map[Version]answer{}
	versions := Versions
	if r.Known != 0 && r.VersionsOnly {
		r.gotServerHello.Store(true)
		answers[r.Known] = accepted
		versions = slices.DeleteFunc(slices.Clone(Versions), func(v Version) bool { return v == r.Known })
	}
	r.probeEach(ctx, answers, versions, 0)
	if doubtful := r.doubtful(answers); len(doubtful) > 0 && !r.ShortHellos {
		r.probeShort(ctx, answers, doubtful)
	}
	// There may be nothing but what is offered last.
	rest := slices.DeleteFunc(r.doubtful(answers), func(v Version) bool { return v == TLS13 || answers[v] != refused })
	r.probeEach(ctx, answers, rest, 1)
	r.confirmVersions(ctx, answers)
	for _, v := range Versions {
		r.found[v].conclude(answers[v], r.gotServerHello.Load())
		if yes := r.found[v].yes; yes != nil && r.OnVersion != nil {
			r.OnVersion(v, *yes)
		}
	}
}

// confirmVersions makes refusals without an alert unclear where the server refuses what it accepted before as well: it
// may be limiting connections.
func (r *run) confirmVersions(ctx context.Context, answers map[Version]answer) {
	silent := slices.DeleteFunc(slices.Clone(Versions), func(v Version) bool {
		return answers[v] != refused && answers[v] != dropped || explained(r.found[v].refusal)
	})
	newest := newestIn(answers)
	if len(silent) == 0 || newest == 0 && r.Known == 0 {
		return // nothing to compare with
	}
	if newest != 0 && (r.Known == 0 || answers[r.Known] == accepted) && r.confirm(ctx, newest, io.EOF) {
		return
	}
	for _, v := range silent {
		answers[v] = unclear
	}
}

// probeEach offers some versions, with a chunk of the suites of each.
func (r *run) probeEach(ctx context.Context, answers map[Version]answer, versions []Version, chunk int) {
	got := make([]answer, len(versions))
	r.each(len(versions), func(i int) {
		q := r.offerOf(versions[i])
		q.suites = r.chunksOf(versions[i])[chunk]
		got[i] = r.probeVersion(ctx, q)
	})
	for i, v := range versions {
		if before, asked := answers[v]; !asked || got[i] != over || before == over {
			answers[v] = got[i]
		}
	}
}

// newestIn is the newest version that is taken, 0 where none is.
func newestIn(answers map[Version]answer) (newest Version) {
	for v, a := range answers {
		if a == accepted {
			newest = max(newest, v)
		}
	}
	return newest
}

// doubtful are the versions, newest first, whose refusal may be about what else the hello has: more than the hello of
// any version that was taken. TLS 1.3 has other suites than the rest, so servers refuse it however they refuse suites.
func (r *run) doubtful(answers map[Version]answer) (versions []Version) {
	newest := newestIn(answers)
	for _, v := range Versions {
		if v > newest && (v < TLS13 || newest == 0) && r.found[v].doubtful() {
			versions = append(versions, v)
		}
	}
	return versions
}

// probeShort offers versions with short hellos, and keeps these where that helps.
func (r *run) probeShort(ctx context.Context, answers map[Version]answer, versions []Version) {
	before := newestIn(answers)
	r.compact.Store(true)
	r.probeEach(ctx, answers, versions, 0)
	if newestIn(answers) == before {
		r.compact.Store(r.ShortHellos)
	}
}

// probeVersion keeps the answer to a version.
func (r *run) probeVersion(ctx context.Context, q offer) answer {
	f, a, err := r.probe(ctx, q)
	t := r.found[q.version]
	switch {
	case a == accepted:
		t.first, t.refusal = f, nil
	case a != over || t.refusal == nil:
		t.refusal = err
	}
	return a
}

// conclude makes a verdict of the answer to a version. A reset is one only where the server answers otherwise.
func (t *taken) conclude(a answer, otherwise bool) {
	yes := a == accepted
	if yes || a == refused || a == dropped && otherwise {
		t.yes = &yes
	}
}

// doubtful reports whether a refusal may be about something else than the version.
func (t *taken) doubtful() bool {
	var alert Alert
	switch {
	case errors.As(t.refusal, &alert):
		return alert.Description != alertProtocolVersion && alert.Description != alertUnrecognizedName
	case t.refusal == nil, errors.Is(t.refusal, ErrOtherVersion), errors.Is(t.refusal, ErrSpent),
		errors.Is(t.refusal, ErrNotTLS), errors.Is(t.refusal, errDial):
		return false
	}
	return true
}
