package places

import (
	"encoding/json"
	"reflect"

	"diagnostics/gateway/internal/remote"
	"diagnostics/shared/workerapi"
)

// hide hides private networks in all texts and hops of a decoded value: the place has done so already, and this is for
// one that is wrong, older or not ours.
func hide(inside remote.Inside, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(inside.HideInText(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			hide(inside, v.Elem())
		}
	case reflect.Slice:
		if raw, ok := v.Interface().(json.RawMessage); ok {
			v.SetBytes([]byte(inside.HideInText(string(raw))))
			return
		}
		for i := range v.Len() {
			hide(inside, v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			element := reflect.New(v.Type().Elem()).Elem()
			element.Set(v.MapIndex(key))
			hide(inside, element)
			v.SetMapIndex(key, element)
		}
	case reflect.Struct:
		// An embedded struct of an unexported type cannot be interfaced, though its exported fields can be set.
		if p := v.Addr(); p.CanInterface() {
			if hop, is := p.Interface().(*workerapi.Hop); is {
				inside.HideHop(hop)
			}
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() || v.Type().Field(i).Anonymous {
				hide(inside, v.Field(i))
			}
		}
	}
}
