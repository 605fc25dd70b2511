package dnsresolvercheck

import "slices"

// compare holds every resolver's answer against those of the domain's own servers.
func compare(answers []resolverAnswer, own *authority) {
	for i := range answers {
		answers[i].MatchesAuthoritative = own.matches(answers[i])
	}
}

// matches reports whether the resolver's answer is that of one of the domain's own servers; nil where it cannot be
// reported.
func (a *authority) matches(answer resolverAnswer) *bool {
	servers := a.answered()
	if !answer.conclusive() || len(servers) == 0 {
		return nil
	}
	untold := false
	for _, server := range servers {
		switch same := server.matches(answer); {
		case same == nil:
			untold = true
		case *same:
			return same
		}
	}
	if untold {
		return nil
	}
	return new(bool)
}

// matches is nil where the server has an alias alone, and the resolver has followed the same.
func (s serverAnswer) matches(answer resolverAnswer) *bool {
	if s.Alias != nil {
		if slices.Contains(answer.chain, *s.Alias) {
			return nil
		}
		return new(bool)
	}
	same := s.Digest == answer.Digest && slices.Equal(s.Values, answer.Values)
	return &same
}

// matching are the resolvers for which the comparison says so.
func matching(answers []resolverAnswer, same bool) []resolverAnswer {
	return which(answers, func(a resolverAnswer) bool {
		return a.MatchesAuthoritative != nil && *a.MatchesAuthoritative == same
	})
}
