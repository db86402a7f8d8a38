package feedring

import "fmt"

// SettingError is a setting of a peer or a client that cannot be used.
type SettingError struct {
	Setting  string // as the configuration file calls it
	Value    any    // nil: none was given
	Min, Max any    // of a value that is out of range; else nil
	Err      error  // of a value that is wrong otherwise
}

// Error is one line, which names the setting and the value.
func (e *SettingError) Error() string {
	text := e.Setting
	switch v := e.Value.(type) {
	case nil:
	case string:
		text += fmt.Sprintf(" %q", v)
	default:
		text += fmt.Sprintf(" %v", v)
	}
	if e.Err != nil {
		return text + ": " + e.Err.Error()
	}
	return text + fmt.Sprintf(": not between %v and %v", e.Min, e.Max)
}

// Unwrap returns the cause.
func (e *SettingError) Unwrap() error { return e.Err }
