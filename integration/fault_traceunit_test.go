package integration

import (
	"testing"
	"time"
)

// TestTrace reads a trace in which every order occurs.
func TestTrace(t *testing.T) {
	t.Parallel()
	calls := readTrace(`100 1700000000.000001 mmap(NULL, 12582912, PROT_READ|PROT_WRITE, MAP_SHARED, 9</d/00001.mem>, 0) = 0x7f01
100 1700000000.000002 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 9</d/other>, 0) = 0x7f02
101 1700000000.000003 read(12<socket:[1]>, "HTTP/1.1 200 OK\r\n<title>a #1</title>", 4096) = 40
100 1700000000.000004 sendmsg(8<socket:[2]>, {msg_name={sa_family=AF_INET, sin_port=htons(7377), sin_addr=inet_addr("127.0.0.1")}, msg_iov=[{iov_base="x", iov_len=300}]}, 0) = 300
100 1700000000.000005 msync(0x7f01, 12582912, MS_SYNC <unfinished ...>
101 1700000000.000006 msync(0x7f02, 4096, MS_SYNC) = 0
101 1700000000.000007 write(12<socket:[1]>, "If-None-Match: \"v2\"", 30 <unfinished ...>
100 1700000000.000008 <... msync resumed>)             = 0
101 1700000000.000009 <... write resumed>) = 30
100 1700000000.000010 sendmsg(8<socket:[2]>, {msg_name={sa_family=AF_INET, sin_port=htons(7377)}}, 0) = -1 EAGAIN (Resource temporarily unavailable)
102 1700000000.000011 +++ exited with 0 +++
`)
	if c := calls.until(time.Unix(1700000000, 4500)); c.name != "sendmsg" || c.begun != 4 {
		t.Errorf("the last call before a moment: %+v", c)
	}
	read, ok := calls.first(0, "read", "a #1")
	if !ok || read.begun != 3 || read.result != "40" {
		t.Errorf("read: %+v", read)
	}
	write, ok := calls.first(read.ended, "write sendto", "If-None-Match", "v2")
	if !ok || write.begun != 7 || write.ended != 9 {
		t.Errorf("write: %+v", write)
	}
	if _, ok := calls.synced(read.ended, write.begun); ok {
		t.Error("a sync that had not ended, or of another file, passes")
	}
	if c, ok := calls.synced(read.ended, write.ended); !ok || c.begun != 5 {
		t.Error("a sync was overlooked")
	}
	if _, ok := calls.synced(6, 100); ok {
		t.Error("a sync that had begun before passes")
	}
	if got := calls.sent(3, 100, "7377", 150); got != 300 {
		t.Errorf("%d bytes were sent", got)
	}
	if got := calls.sent(3, 100, "7378", 150) + calls.sent(4, 100, "7377", 150) + calls.sent(0, 100, "7377", 301); got != 0 {
		t.Errorf("%d bytes were sent elsewhere", got)
	}
}
