package siblings

func stray() int { return help() }
