package repair

// What one document may cost. encoding/xml alone accepts a depth of a million
// and a title of 50 MB, so these are checked before it sees anything.
const (
	maxDepth     = 64
	MaxItems     = 5_000   // of a feed: the newest are taken
	maxNamespace = 2_048   // bytes of the name of one that older writes out
	maxAttrs     = 64      // of one element
	maxToken     = 1 << 20 // bytes of one text, tag, comment or string
	maxPieces    = 250_000 // of XML, comments included, or values of JSON; ten times the largest feed seen in the wild
	maxParts     = 150_000 // elements and attributes of XML, each of which may take 500 bytes of memory; seven times that feed
	maxWork      = 1 << 31 // bytes that the parser copies within a document
	dateWork     = 600     // times that a date which is none is copied, form by form
	dateLength   = 160     // bytes that take as long to copy as it takes to try the forms
	prefixWork   = 1 << 10 // bytes that take as long as one namespace around one element
)
