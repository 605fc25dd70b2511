package predicates

// good reports whether n is small.
func good(n int) bool { return n < 10 }

// bad tells small numbers.
func bad(n int) bool { return n < 10 }

// several tells small numbers, and from where on they are.
func several(n int) (small bool, from int) { return n < 10, 0 }

// both tell of small numbers, and of great ones.
func both(n int) (small, great bool) { return n < 10, n > 100 }

func undocumented(n int) bool { return n < 10 }
