package redisbreaker

// Probed is closed when the first probe, which nobody asked for, has ended.
func (g *Breaker) Probed() <-chan struct{} { return g.watch.Probed() }
