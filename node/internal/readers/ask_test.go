package readers

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/nodetest"
	"github.com/feedring/feedring/node/internal/tasks"
	"github.com/feedring/feedring/node/internal/transport"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// asked serves one stream of questions. hold keeps the machine from answering until it
// is closed.
func asked(t *testing.T, hold <-chan struct{}) (s *Server, client *wire.Stream, ended <-chan error) {
	ctx, cancel := context.WithCancel(context.Background())
	var running tasks.Group
	m := &machine{t: t, hold: hold}
	s = New(ctx, Config{Self: "self", Network: testNetwork, Machine: m, Sealer: newSealer(t), Tasks: &running, Log: nodetest.Quiet})
	m.begin(ctx, s)
	here, there := net.Pipe()
	result := make(chan error, 1)
	running.Run(func() {
		result <- s.ServeAsk("client", wire.NewStream(transport.PipeEnd{Conn: there}))
		there.Close()
	})
	t.Cleanup(func() {
		cancel()
		here.Close()
		if !running.End(10 * time.Second) {
			t.Error("serving goes on")
		}
	})
	return s, wire.NewStream(transport.PipeEnd{Conn: here}), result
}

func free() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func aQuestion(n int) *feedringv1.AskRequest {
	return wire.AskTo(wire.Ask{ID: feedring.QueryID{byte(n), byte(n >> 8), 1}, Attempt: 7, Within: time.Second})
}

func TestAskAnswersEachQuestion(t *testing.T) {
	_, client, ended := asked(t, free())
	for n := range 3 {
		check(t, client.Send(aQuestion(n), time.Second))
		var reply feedringv1.AskReply
		check(t, client.Receive(&reply, 10*time.Second))
		f, err := wire.AskReplyFrom(&reply)
		if err != nil || f.Status != feedring.Unsatisfied || f.ID[0] != byte(n) || f.Attempt != 7 {
			t.Errorf("answer %+v, %v", f, err)
		}
	}
	bad := aQuestion(9)
	bad.Theme = "no theme!"
	check(t, client.Send(bad, time.Second))
	var reply feedringv1.AskReply
	check(t, client.Receive(&reply, 10*time.Second))
	if f, err := wire.AskReplyFrom(&reply); err == nil || f.ID[0] != 9 {
		t.Errorf("a bad question: %+v, %v", f, err)
	}
	check(t, client.Close())
	if err := <-ended; err != io.EOF {
		t.Errorf("ended with %v", err)
	}
}

// TestAskDoesNotWaitForAClientThatDoesNotRead sends more questions than may be open and
// reads no answer: neither the loop nor the close waits for it.
func TestAskDoesNotWaitForAClientThatDoesNotRead(t *testing.T) {
	hold := make(chan struct{})
	s, client, ended := asked(t, hold)
	sent := make(chan int)
	go func() {
		count := 0
		for client.Send(aQuestion(count), 500*time.Millisecond) == nil {
			count++
		}
		sent <- count
	}()
	count := <-sent
	if count < asksAtOnce || count > asksAtOnce+2 {
		t.Errorf("%d questions were taken", count)
	}
	close(hold)
	eventually(t, "all answers given", func() bool {
		s.questions.mu.Lock()
		defer s.questions.mu.Unlock()
		return len(s.questions.open) == 0
	})
	if err := <-ended; err == nil {
		t.Error("the stream goes on")
	}
}
