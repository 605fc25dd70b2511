// Package siblings breaks the rule about tools. It is parsed, never built.
package siblings

type firstThing struct{ secondField int }

func first() firstThing {
	local := secondThing()
	return firstThing{secondField: local + help()}
}
