package breaker

// Probed is closed when the first probe, which nobody asked for, has ended.
func (b *Breaker) Probed() <-chan struct{} { return b.watch.Probed() }
