package siblings

func secondThing() int { return help() }
