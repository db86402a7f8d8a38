package wire

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// languageField is the number of EntryBody's language.
const languageField = 13

// LanguageOf returns the language that a sealed entry's payload names, without
// decoding the rest; empty: none, or no payload of an entry.
func LanguageOf(payload []byte) string {
	language := ""
	for len(payload) > 0 {
		num, typ, n := protowire.ConsumeTag(payload)
		if n < 0 {
			return ""
		}
		size := protowire.ConsumeFieldValue(num, typ, payload[n:])
		if size < 0 {
			return ""
		}
		if num == languageField && typ == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(payload[n:])
			language = string(value[:min(len(value), maxLanguage)])
		}
		payload = payload[n+size:]
	}
	return language
}
