package finding

// Resolution is the subject of findings about whether a name is found in the DNS at all. The report lists findings of
// several tools with one subject once.
func Resolution(name string) string { return "resolution of " + name }

// Denials is the subject of findings about answers that deny what a name has.
func Denials(name string) string { return "denials of " + name }

// DNSSEC is the subject of findings about the signing of a zone.
func DNSSEC(zone string) string { return "DNSSEC of " + zone }
