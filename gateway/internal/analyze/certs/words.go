package certs

import "cmp"

var clauses = map[string]string{
	CodeExpired:           "it has expired",
	CodeNotYetValid:       "it is not valid yet",
	CodeSelfSigned:        "it is self-signed",
	CodeSelfSignedInChain: "its root is not trusted",
	CodeNoLocalIssuer:     "its issuer is not trusted",
	CodeUnverifiableLeaf:  "an intermediate certificate is missing",
	CodeNameMismatch:      "it is for another name",
	CodePurpose:           "it is not for servers",
	CodeNotPermitted:      "its authority may not issue for this name",
	CodeCriticalExtension: "it has an extension that clients do not understand",
	CodeInvalidCA:         "its issuer is not a certificate authority",
	CodeWeakDigest:        "its chain is signed with SHA-1 or MD5",
	CodePathLength:        "its chain is longer than one of its authorities allows",
}

// Clause is the meaning of a code, as the end of a sentence about a certificate that is not valid.
func Clause(code string) string {
	return cmp.Or(clauses[code], code)
}
