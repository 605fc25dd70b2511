package settings

import "fmt"

// Pair refuses one of two settings without the other.
func Pair(one string, hasOne bool, other string, hasOther bool) error {
	switch {
	case hasOne && !hasOther:
		return fmt.Errorf("%s is set without %s: set both or neither", one, other)
	case hasOther && !hasOne:
		return fmt.Errorf("%s is set without %s: set both or neither", other, one)
	}
	return nil
}
