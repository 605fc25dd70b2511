package siblings

func two() int { return secondThing() }
