package ring

import (
	"encoding/binary"
	"io"
)

func putNumber(w io.Writer, n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	w.Write(b[:])
}

// putText writes the length first, so that no two sequences of texts meet.
func putText(w io.Writer, s string) {
	putNumber(w, uint64(len(s)))
	io.WriteString(w, s)
}
