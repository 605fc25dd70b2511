package settings

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a value that prints itself as [redacted], however it is printed: fmt with any verb, slog, JSON. It is held
// behind a pointer, so that even a verb that goes around the methods of an unexported field prints an address.
type Secret struct{ value *string }

// NewSecret hides a value.
func NewSecret(value string) Secret { return Secret{value: &value} }

// Decode implements envconfig.Decoder.
func (s *Secret) Decode(value string) error {
	*s = NewSecret(value)
	return nil
}

// Reveal returns the value, for the one place that needs it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether there is no value.
func (s Secret) IsZero() bool { return s.value == nil }

// String is not the value.
func (s Secret) String() string { return redacted }

// Format is not the value, for any verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue is not the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText is not the value; JSON uses it as well.
func (s Secret) MarshalText() ([]byte, error) {
	return []byte(redacted), nil
}
