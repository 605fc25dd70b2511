package securityheaders

import "strings"

// headerLine is a header to send, as the sentence shows it.
type headerLine struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// StartingPoint marks a policy to start from: which one fits the site cannot be known from outside.
	StartingPoint bool `json:"startingPoint,omitempty"`
	// ExampleHost marks a value with a host that is made up, for the owner to replace.
	ExampleHost bool `json:"exampleHost,omitempty"`
}

func (h headerLine) String() string { return h.Name + ": " + h.Value }

// exampleOrigin stands for a site that only the owner can name.
const exampleOrigin = "https://the-site-that-may.example"

// advice is what a control recommends: a header to send, or headers to remove, and words around it. Its zero value
// recommends nothing.
type advice struct {
	before string
	set    *headerLine
	remove []string // names in lower case
	after  string
}

// send recommends a header.
func send(name, value string) advice { return advice{set: &headerLine{Name: name, Value: value}} }

// sendExample recommends a header whose value holds exampleOrigin.
func sendExample(name, value string) advice {
	return advice{set: &headerLine{Name: name, Value: value, ExampleHost: true}}
}

// text is the advice as a sentence, empty where nothing is recommended.
func (a advice) text() string {
	text := a.before
	if a.set != nil {
		text += a.set.String()
	}
	if len(a.remove) > 0 {
		text += "Do not send: " + strings.Join(a.remove, ", ")
	}
	return text + a.after
}
