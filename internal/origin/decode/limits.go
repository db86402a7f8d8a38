package decode

// What the body of one answer may cost.
const (
	MaxBody    = 8 << 20  // bytes, decompressed
	maxRatio   = 100      // decompressed : compressed, checked beyond ratioGrace
	ratioGrace = 1 << 20  // bytes; a small document may well be all spaces
	MaxText    = 12 << 20 // bytes after conversion to UTF-8: a byte may become three
)
