package predicates

// good reports whether n is small.
func good(n int) bool { return n < 10 }

// bad matches small numbers.
func bad(n int) bool { return n < 10 }

// several matches small numbers, and gives the limit.
func several(n int) (small bool, from int) { return n < 10, 0 }

// both matches small numbers, and great ones.
func both(n int) (small, great bool) { return n < 10, n > 100 }

func undocumented(n int) bool { return n < 10 }
