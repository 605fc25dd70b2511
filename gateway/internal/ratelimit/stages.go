package ratelimit

// chain charges stage after stage until one refuses.
func chain(stages []Stage, take func(on []Charge) ([]Decision, error)) (Decision, error) {
	var seen []Decision
	for _, stage := range stages {
		decisions, err := take(active(stage))
		if err != nil {
			return Decision{}, err
		}
		seen = append(seen, decisions...)
		if !worst(decisions).Allowed {
			break
		}
	}
	return worst(seen), nil
}

// active are the charges whose bucket is switched on.
func active(charges Stage) []Charge {
	on := make([]Charge, 0, len(charges))
	for _, c := range charges {
		if c.counts() {
			on = append(on, c)
		}
	}
	return on
}

// counts reports whether the charge's bucket is switched on.
func (c Charge) counts() bool { return c.Limit.Requests > 0 && c.Limit.Window > 0 }

// times is how many requests the charge counts for.
func (c Charge) times() int { return min(max(c.Times, 1), c.Limit.Requests) }

// worst is the decision over all buckets.
func worst(decisions []Decision) Decision {
	if len(decisions) == 0 {
		return Decision{Allowed: true}
	}
	tightest := decisions[0]
	for _, d := range decisions[1:] {
		if d.tighter(tightest) {
			tightest = d
		}
	}
	return tightest
}

func (d Decision) tighter(than Decision) bool {
	switch {
	case d.Allowed != than.Allowed:
		return !d.Allowed
	case !d.Allowed:
		return d.RetryAfter > than.RetryAfter
	case d.Remaining != than.Remaining:
		return d.Remaining < than.Remaining
	}
	return d.ResetAfter > than.ResetAfter
}
