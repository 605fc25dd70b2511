package flight

// Runs is how many runs are on the board.
func (g *Group[K, V]) Runs() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.runs)
}
