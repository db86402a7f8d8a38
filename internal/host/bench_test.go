package host

import (
	"runtime"
	"testing"
)

// BenchmarkIdleHost measures what a host costs that does nothing.
func BenchmarkIdleHost(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	goroutines := runtime.NumGoroutine()
	for b.Loop() {
		newHost(b)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/float64(b.N)/1024, "KB/host")
	b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/float64(b.N), "goroutines/host")
}

// BenchmarkAsk measures one request on a new stream.
func BenchmarkAsk(b *testing.B) {
	server, client := newHost(b), newHost(b, asClient)
	echo(server)
	if _, err := client.Given(server.Addrs()[0]); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := ask(b.Context(), client, server.ID()); err != nil {
			b.Fatal(err)
		}
	}
}
