//go:build !linux

package main

// largePages does nothing: systems other than Linux are not asked.
func largePages(int64) {}
