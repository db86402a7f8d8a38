package peerid

import (
	"encoding/binary"
	"math/bits"

	"github.com/feedring/feedring"
)

// The text of an Ed25519 peer id is base58, and one message names a dozen
// peers: done by general code, with a division for each byte and digit, it
// takes more time than all the rest of reading the message. All ids are of one
// length, so it is done here ten digits and eight bytes at a time.

const (
	digits58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	textLen  = 52                 // of every Ed25519 peer id
	tenth58  = 430804206899405824 // 58 to the 10th: the greatest power that fits a word
	noDigit  = 0xff
)

var values58 = func() (values [256]byte) {
	for i := range values {
		values[i] = noDigit
	}
	for i := range len(digits58) {
		values[digits58[i]] = byte(i)
	}
	return values
}()

// peerText is the text of the bytes of an Ed25519 peer id.
func peerText(raw string) feedring.PeerID {
	var number [5]uint64 // what follows the zero byte, greatest first
	number[0] = 0x24<<32 | 0x08011220
	for i := 1; i < len(number); i++ {
		number[i] = binary.BigEndian.Uint64([]byte(raw[len(idPrefix)+8*(i-1):][:8]))
	}
	var text [textLen]byte
	text[0] = digits58[0] // the zero byte
	for end := textLen; end > 1; {
		var rest uint64
		for i := range number {
			number[i], rest = bits.Div64(rest, number[i], tenth58)
		}
		for n := 0; n < 10 && end > 1; n++ {
			end--
			text[end] = digits58[rest%58]
			rest /= 58
		}
	}
	return feedring.PeerID(text[:])
}

// peerRaw is the inverse of peerText, false where text is not such an id.
func peerRaw(text string) (raw [idLen]byte, ok bool) {
	if len(text) != textLen || text[0] != digits58[0] {
		return raw, false
	}
	var number [5]uint64
	for at := 1; at < textLen; {
		word, scale := uint64(0), uint64(1)
		for n := 0; n < 10 && at < textLen; n++ {
			value := values58[text[at]]
			if value == noDigit {
				return raw, false
			}
			word, scale = word*58+uint64(value), scale*58
			at++
		}
		for i := len(number) - 1; i >= 0; i-- {
			high, low := bits.Mul64(number[i], scale)
			var carry uint64
			number[i], carry = bits.Add64(low, word, 0)
			word = high + carry
		}
	}
	if number[0] != 0x24<<32|0x08011220 {
		return raw, false
	}
	copy(raw[:], idPrefix)
	for i := 1; i < len(number); i++ {
		binary.BigEndian.PutUint64(raw[len(idPrefix)+8*(i-1):], number[i])
	}
	return raw, true
}
