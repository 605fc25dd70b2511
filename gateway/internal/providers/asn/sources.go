package asn

// Sources are where the facts of one answer came from: one source for what was kept and one for what was fetched for
// it, since no single moment is true of both.
type Sources []Source

// With adds a source. Two that were both kept, or both fetched, are told as one, as old as the older. The receiver is
// not changed.
func (all Sources) With(more ...Source) Sources {
	out := append(Sources{}, all...)
	for _, s := range more {
		out = out.with(s)
	}
	return out
}

func (all Sources) with(s Source) Sources {
	for i := range all {
		if all[i].Name != s.Name || all[i].Zone != s.Zone || all[i].Cached != s.Cached {
			continue
		}
		if s.FetchedAt.Before(all[i].FetchedAt) {
			all[i].FetchedAt = s.FetchedAt
		}
		return all
	}
	return append(all, s)
}
