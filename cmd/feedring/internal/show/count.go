package show

import "strconv"

// Count is a number of things, which are called by one name or by another where there are several.
func Count(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + several
}

// Mark is a text for what is, and a dash for what is not.
func Mark(is bool, text string) string {
	if is {
		return text
	}
	return "-"
}
