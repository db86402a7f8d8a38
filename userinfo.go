package feedring

import "strings"

// WithoutUser is an address as it may be shown, whether it can be read or not: what
// looks like a user name or password before its host is left out.
func WithoutUser(address string) string {
	from := 0
	if at := strings.Index(address, "//"); at >= 0 {
		from = at + len("//")
	}
	rest := address[from:]
	user := strings.LastIndex(rest, "@")
	if user < 0 || strings.HasPrefix(strings.ToLower(address), "mailto:") {
		return address
	}
	// A password may hold a slash that nobody escaped; a colon that is before it
	// tells. Without one, what follows the slash is a path, in which @ is common.
	authority, _, _ := strings.Cut(rest, "/")
	if end := strings.IndexAny(authority, "?#"); end >= 0 && !strings.Contains(authority[:end], ":") {
		authority = authority[:end]
	}
	if !strings.Contains(authority, ":") {
		if user = strings.LastIndex(authority, "@"); user < 0 {
			return address
		}
	}
	return address[:from] + "…@" + rest[user+1:]
}
