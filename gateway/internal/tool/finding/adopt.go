package finding

import (
	"fmt"
	"strings"
)

// Adopter is a value of another instance that holds codes of a catalogue.
type Adopter interface {
	// Adopt replaces what the catalogue has for the codes. It drops findings whose code is not known, and fails if the
	// code of the conclusion is not.
	Adopt(c Catalogue) error
}

// Adopt implements Adopter.
func (r *Report) Adopt(c Catalogue) error {
	r.Findings = Adopted(r.Findings, c, func(f *Finding) *Finding { return f })
	return r.Conclusion.Adopt(c)
}

// Adopt implements Adopter.
func (o *Conclusion) Adopt(c Catalogue) error {
	row, known := c.Conclusions[o.Code]
	if !known {
		return fmt.Errorf("the conclusion %.40q is not known here", o.Code)
	}
	o.State = row.State
	if !hasVerb(row.Message) {
		o.Message = row.Message
	}
	return nil
}

// Adopted returns the elements whose finding is in the catalogue. Their links are the catalogue's, and they have no
// text to paste: it is made of values that another instance does not send.
func Adopted[F any](list []F, c Catalogue, of func(*F) *Finding) []F {
	kept := list[:0]
	for i := range list {
		f := of(&list[i])
		row, known := c.Findings[f.Code]
		if !known {
			continue
		}
		f.Paste = nil
		switch {
		case row.Reference != "":
			f.Reference = &row.Reference
		case f.Reference != nil && !strings.HasPrefix(*f.Reference, "RFC "):
			f.Reference = nil
		}
		if !hasVerb(row.Message) {
			f.Message = row.Message
		}
		if row.Remedy != "" && !hasVerb(row.Remedy) {
			f.Remedy = &row.Remedy
		}
		kept = append(kept, list[i])
	}
	return kept
}
