package siblings

func help() int {
	var wrong firstThing
	return wrong.secondField
}
