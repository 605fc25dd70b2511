package rdap

// The shares that lists have of an answer, in bytes of JSON, which bound what is kept too: a body is at most MaxBody
// long, and escapes make a multiple of it.
const (
	maxStatus      = 16 << 10
	maxNameservers = 32 << 10
	maxDS          = 32 << 10
	maxRoles       = 4 << 10 // of one contact
	maxRedactions  = 4 << 10 // of one contact, and of what is no contact's
)
