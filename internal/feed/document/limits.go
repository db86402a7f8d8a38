package document

// What one document may cost. encoding/xml alone accepts a depth of a million
// and a title of 50 MB, so these are checked before it sees anything.
const (
	MaxBody     = 8 << 20  // bytes, decompressed
	maxRatio    = 100      // decompressed : compressed, checked beyond ratioGrace
	ratioGrace  = 1 << 20  // bytes; a small document may well be all spaces
	maxText     = 12 << 20 // bytes after conversion to UTF-8: a byte may become three
	maxDepth    = 64
	MaxItems    = 5_000
	maxAttrs    = 64      // of one element
	maxToken    = 1 << 20 // bytes of one text, tag, comment or string
	maxElements = 250_000 // twenty times the largest feed seen in the wild
)
