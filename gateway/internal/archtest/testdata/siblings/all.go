package siblings

func all() []any { return []any{first, two} }
