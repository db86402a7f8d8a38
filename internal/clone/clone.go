// Package clone copies the tables of machines.
package clone

// Map returns a map of copies of what in points at.
func Map[K comparable, V any](in map[K]*V) map[K]*V {
	out := make(map[K]*V, len(in))
	for k, v := range in {
		value := *v
		out[k] = &value
	}
	return out
}
