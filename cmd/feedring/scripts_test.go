//go:build !race

package main

import "path/filepath"

// scripts are all files in testdata.
var scripts, _ = filepath.Glob("testdata/*.txtar")
