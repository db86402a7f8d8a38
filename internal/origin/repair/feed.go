package repair

// Feed returns the text that the parser reads a feed from. text is UTF-8 and is
// not changed; at is where its root element begins, 0 in JSON. Of a feed with
// more than MaxItems entries the newest remain, and omitted counts the others.
// Errors are *failure.Error: the text ends too early, or breaks a limit.
func Feed(text []byte, at int) (feed []byte, omitted int, err error) {
	text, omitted, err = within(closeRoot(text, at), at)
	if err != nil {
		return nil, 0, err
	}
	feed, err = fromOlder(literal(mendAtom(text, at), at)[at:])
	return feed, omitted, err
}
