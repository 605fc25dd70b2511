package breaker

// Probed is closed when the first probe, which Breaker starts by itself, has ended.
func (b *Breaker) Probed() <-chan struct{} { return b.watch.Probed() }
