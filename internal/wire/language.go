package wire

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/feedring/feedring"
)

// Numbers of EntryBody's fields that are read without decoding the rest.
const (
	providerField  = 3
	publishedField = 7
	languageField  = 13
)

// LanguageOf returns the language that a sealed entry's payload names, without
// decoding the rest; empty: none, or no payload of an entry.
func LanguageOf(payload []byte) string {
	value, _ := protowire.ConsumeBytes(fieldOf(payload, languageField, protowire.BytesType))
	return string(value[:min(len(value), maxLanguage)])
}

// ProviderOf returns the name that a sealed entry's payload gives its provider, as
// LanguageOf does.
func ProviderOf(payload []byte) feedring.Provider {
	value, _ := protowire.ConsumeBytes(fieldOf(payload, providerField, protowire.BytesType))
	return feedring.Provider(value[:min(len(value), maxProvider)])
}

// publishedOf is the date of a sealed entry's payload; zero: none.
func publishedOf(payload []byte) time.Time {
	value, n := protowire.ConsumeVarint(fieldOf(payload, publishedField, protowire.VarintType))
	if n < 0 {
		return time.Time{}
	}
	at, _ := timeFrom(int64(value))
	return at
}

// fieldOf returns what follows the last tag of a field; nil: there is none, or this is
// no message.
func fieldOf(payload []byte, field protowire.Number, kind protowire.Type) (value []byte) {
	for len(payload) > 0 {
		num, typ, n := protowire.ConsumeTag(payload)
		if n < 0 {
			return nil
		}
		size := protowire.ConsumeFieldValue(num, typ, payload[n:])
		if size < 0 {
			return nil
		}
		if num == field && typ == kind {
			value = payload[n : n+size]
		}
		payload = payload[n+size:]
	}
	return value
}
