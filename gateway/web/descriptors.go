package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// Kind is what a tool's input is; the report page picks the tools that fit a target by it.
type Kind string

// The kinds of input.
const (
	KindNone         Kind = "none"         // the tool takes no input
	KindDomain       Kind = "domain"       // a domain name
	KindHost         Kind = "host"         // a hostname or an IP address
	KindHostPort     Kind = "hostPort"     // host:port
	KindTLSHost      Kind = "tlsHost"      // a hostname, maybe with a port
	KindURL          Kind = "url"          // an http or https URL
	KindAddress      Kind = "address"      // an IP address
	KindNetwork      Kind = "network"      // an IP address or an AS number
	KindRegistration Kind = "registration" // a domain name or an IP address
)

var kinds = []Kind{
	KindNone, KindDomain, KindHost, KindHostPort, KindTLSHost, KindURL, KindAddress, KindNetwork, KindRegistration,
}

// meanings are what someone's text on the front page may be taken for.
var meanings = []string{"url", "email", "hostPort", "address", "asn", "domain"}

// Descriptor is what a page says of one tool: the page.json in the tool's folder.
type Descriptor struct {
	// Slug is the folder's name.
	Slug    string `json:"-"`
	Title   string `json:"title"`
	Promise string `json:"promise"`
	Kind    Kind   `json:"kind"`
	// Label, Placeholder and Hint are those of the input field; empty where the tool takes no input.
	Label       string   `json:"label"`
	Placeholder string   `json:"placeholder"`
	Hint        string   `json:"hint"`
	Options     []Option `json:"options"`
	// Examples are inputs that the page offers to try.
	Examples []string `json:"examples"`
	// Suits says how well the tool fits what someone typed into the front page's field, as "url:90 domain:40": the
	// recognised kind and a weight, the heaviest offered first. What is not named weighs 10 where the kind of input fits.
	Suits string `json:"suits"`
	// Samples is the connection route that the page samples from the browser, empty for none.
	Samples string `json:"samples"`
	// Watch is how many seconds lie at least between two rounds of a check that the page offers to repeat; 0 for none.
	// What is kept of each answer says watch.js in the tool's folder.
	Watch int `json:"watch"`
	// About says what the check does and what its result means, a paragraph each, to someone who is no specialist.
	About []string `json:"about"`
}

// Option is a field for one member of the request's options: what page.json says of it, and what the tool accepts.
type Option struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	// Placeholder is that of a field for text.
	Placeholder string `json:"placeholder"`
	Hint        string `json:"hint"`
	// Labels are the words for values; a value without one stands for itself.
	Labels map[string]string `json:"labels"`
	// Second marks an option that is no field: the page asks with it being true once the first answer stands.
	Second bool `json:"second"`
	// Usual is what a field for text sends where it is left empty; empty for nothing.
	Usual string `json:"usual"`
	// Values are the choices, the default first, Number marks a field whose text is sent as a number, and Boolean one that
	// is sent as true or false: the tool's own.
	Values  []Choice `json:"-"`
	Number  bool     `json:"-"`
	Boolean bool     `json:"-"`
}

// Choice is one value of an option.
type Choice struct{ Value, Label string }

// accept fills in what the tool accepts. The page and the tool must have the same options, and labels must be of
// values.
func (d *Descriptor) accept(accepted []RegisteredOption) error {
	d.Options = slices.Clone(d.Options)
	for i := range d.Options {
		o := &d.Options[i]
		at := slices.IndexFunc(accepted, func(r RegisteredOption) bool { return r.Name == o.Name })
		if at < 0 {
			return fmt.Errorf("%s: the tool has no option %s", sourceName(toolFile(d.Slug, pageFile)), o.Name)
		}
		o.Number, o.Boolean = accepted[at].Number, accepted[at].Boolean
		if o.Second && !o.Boolean {
			return fmt.Errorf(`%s: the option %s is not a boolean, and so not "second"`,
				sourceName(toolFile(d.Slug, pageFile)), o.Name)
		}
		values := accepted[at].values()
		for _, value := range values {
			o.Values = append(o.Values, Choice{value, cmp.Or(o.Labels[value], value)})
		}
		for value := range o.Labels {
			if !slices.Contains(values, value) {
				return fmt.Errorf("%s: the option %s has no value %s", sourceName(toolFile(d.Slug, pageFile)), o.Name, value)
			}
		}
		if len(o.Values) > 0 && o.Placeholder+o.Usual != "" {
			return fmt.Errorf(`%s: the option %s has values to choose from, and so no "placeholder" or "usual" text`,
				sourceName(toolFile(d.Slug, pageFile)), o.Name)
		}
	}
	if len(accepted) != len(d.Options) {
		return fmt.Errorf("%s has %d of the tool's %d options", sourceName(toolFile(d.Slug, pageFile)), len(d.Options),
			len(accepted))
	}
	return nil
}

// readDescriptor reads what the page of a tool says. It takes nothing that it does not know.
func readDescriptor(files fs.FS, slug string) (Descriptor, error) {
	d := Descriptor{Slug: slug}
	name := toolFile(slug, pageFile)
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return d, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return d, fmt.Errorf("%s: %w", sourceName(name), err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return d, fmt.Errorf("%s: there is something behind the object", sourceName(name))
	}
	if err := d.check(); err != nil {
		return d, fmt.Errorf("%s: %w", sourceName(name), err)
	}
	return d, nil
}

// check finds what the page could not be made of, or would be made of and make no sense.
func (d Descriptor) check() error {
	switch {
	case d.Title == "":
		return errors.New(`"title" is missing`)
	case !strings.HasSuffix(d.Promise, "."):
		return errors.New(`"promise" must be a sentence with its full stop`)
	case !slices.Contains(kinds, d.Kind):
		return fmt.Errorf(`"kind" is %q, and must be one of %s`, d.Kind, kinds)
	case len(d.About) == 0 || slices.Contains(d.About, ""):
		return errors.New(`"about" must be paragraphs, one at least`)
	case !slices.Contains([]string{"", "ping", "packet-loss"}, d.Samples):
		return fmt.Errorf(`"samples" is %q, and must be ping or packet-loss where it is given`, d.Samples)
	}
	return errors.Join(d.checkInput(), d.checkSuits(), d.checkWatch(), d.checkOptions())
}

func (d Descriptor) checkInput() error {
	if d.Kind == KindNone {
		if d.Label+d.Placeholder+d.Hint+d.Suits != "" || len(d.Examples) > 0 {
			return errors.New(`a tool without input has no "label", "placeholder", "hint", "examples" or "suits"`)
		}
		return nil
	}
	if d.Label == "" || d.Placeholder == "" || len(d.Examples) == 0 || slices.Contains(d.Examples, "") {
		return errors.New(`a tool with an input has a "label", a "placeholder" and at least one of "examples"`)
	}
	return nil
}

var weighed = regexp.MustCompile(`^([a-zA-Z]+):(\d{1,3})$`)

func (d Descriptor) checkSuits() error {
	for pair := range strings.FieldsSeq(d.Suits) {
		if m := weighed.FindStringSubmatch(pair); m == nil || !slices.Contains(meanings, m[1]) {
			return fmt.Errorf(`"suits" has %q, and must be pairs like url:90, of %s`, pair, meanings)
		}
	}
	return nil
}

// What may lie between two rounds of a watch, in seconds: less would be a load on the servers queried, and with more
// there would be no picture after half an hour.
const leastGap, mostGap = 10, 120

func (d Descriptor) checkWatch() error {
	switch {
	case d.Watch == 0:
		return nil
	case d.Kind == KindNone:
		return errors.New(`a tool without input has nothing to "watch"`)
	case d.Watch < leastGap || d.Watch > mostGap:
		return fmt.Errorf(`"watch" is %d, and must be %d to %d seconds where it is given`, d.Watch, leastGap, mostGap)
	}
	return nil
}

// taken are the ids and names that the page of a tool has anyway.
var taken = []string{"input", "run", "cancel", "result", "status", "clock", "tool", "server", "browser", "main", "live",
	"watch", "place"}

var optionName = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

func (d Descriptor) checkOptions() error {
	seen := slices.Clone(taken)
	for _, o := range d.Options {
		switch {
		case !optionName.MatchString(o.Name):
			return fmt.Errorf(`the option's "name" %q is no name`, o.Name)
		case slices.Contains(seen, o.Name):
			return fmt.Errorf("the option's name %s is taken", o.Name)
		case o.Label == "":
			return fmt.Errorf(`the option %s has no "label"`, o.Name)
		}
		seen = append(seen, o.Name)
	}
	return nil
}
