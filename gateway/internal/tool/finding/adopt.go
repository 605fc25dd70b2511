package finding

import "fmt"

// Adopter is a value of another instance that holds codes of a catalogue.
type Adopter interface {
	// Adopt makes what the codes and their arguments say anew. It drops findings whose code is not known, and fails if the
	// code of the conclusion is not.
	Adopt(rows Rows) error
}

// Adopt implements Adopter.
func (r *Report) Adopt(rows Rows) error {
	r.Findings = Adopted(r.Findings, rows, func(f *Finding) *Finding { return f })
	return r.Conclusion.Adopt(rows)
}

// Adopt implements Adopter.
func (o *Conclusion) Adopt(rows Rows) error {
	row, known := rows[o.Code]
	if !known || row.State == "" {
		return fmt.Errorf("the conclusion %.40q is not known here", o.Code)
	}
	*o = rows.conclude(o.Code, rows.accept(row, o.Args))
	return nil
}

// Adopted returns the elements whose finding is in the catalogue, made anew.
func Adopted[F any](list []F, rows Rows, of func(*F) *Finding) []F {
	kept := list[:0]
	for i := range list {
		f := of(&list[i])
		if row, known := rows[f.Code]; known && row.Severity != "" {
			f.adopt(rows, row)
			kept = append(kept, list[i])
		}
	}
	return kept
}

// maxAdopted bounds an argument that another instance sent, in bytes.
const maxAdopted = 2000

// adopt makes the finding anew from its code, its arguments and its subject.
func (f *Finding) adopt(rows Rows, row Row) {
	subject := ""
	if f.Subject != nil {
		subject = *f.Subject
	}
	*f = rows.find(f.Code, subject, rows.accept(row, f.Args))
}

// accept returns the values that the row declares and that have its types.
func (r Rows) accept(row Row, values Values) Values {
	kept := Values{}
	for name, kind := range r.argTypes(row, values, 0) {
		value, given := values[name]
		if !given || len(value) > maxAdopted {
			continue
		}
		if _, err := r.writer(row, values).format(kind, value); err == nil {
			kept[name] = value
		}
	}
	return kept
}
