package integration

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium, driven by the DevTools protocol over a pipe:
// one JSON object after the other, each ended by a zero byte.
type browser struct {
	t    testing.TB
	in   io.Writer
	mu   sync.Mutex
	last int
	wait map[int]chan<- answered
	tabs map[string]*tab // by session
	gone chan struct{}
}

type answered struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// openBrowser starts a browser for the test. All that is not on this machine is
// the world's: nothing is asked of anybody else.
func openBrowser(t testing.TB, world *beacon) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		lacking(t, "chromium", "there is no chromium: install Debian's package of that name")
	}
	toRead, in, err := os.Pipe()
	must(t, err)
	out, toWrite, err := os.Pipe()
	must(t, err)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
		"--disable-extensions", "--disable-dev-shm-usage", "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication",
		"--proxy-server="+world.URL, "--lang=en-GB",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{toRead, toWrite}
	cmd.Env = append(os.Environ(), "TZ=UTC", "HOME="+t.TempDir())
	var said bytes.Buffer
	cmd.Stderr = &said
	must(t, cmd.Start())
	toRead.Close()
	toWrite.Close()
	b := &browser{t: t, in: in, wait: make(map[int]chan<- answered), tabs: make(map[string]*tab), gone: make(chan struct{})}
	go b.read(out)
	t.Cleanup(func() {
		in.Close() // which ends it
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		out.Close()
		if t.Failed() {
			t.Logf("chromium said:\n%s", tail(said.String()))
		}
	})
	return b
}

// read hands answers and events on until the browser ends.
func (b *browser) read(out io.Reader) {
	defer close(b.gone)
	for r := bufio.NewReader(out); ; {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID        int
			Method    string
			SessionID string
			Params    json.RawMessage
			answered
		}
		if json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m) != nil {
			continue
		}
		b.mu.Lock()
		to, of := b.wait[m.ID], b.tabs[m.SessionID]
		delete(b.wait, m.ID)
		b.mu.Unlock()
		switch {
		case to != nil:
			to <- m.answered
		case of != nil && m.Method != "":
			of.happened(m.Method, m.Params)
		}
	}
}

// call makes the browser do something and waits until it was done.
func (b *browser) call(session, method string, params object, into any) {
	b.t.Helper()
	got := b.send(session, method, params)
	select {
	case a := <-got:
		if a.Error != nil {
			b.t.Fatalf("%s: %s", method, a.Error.Message)
		}
		if into != nil {
			must(b.t, json.Unmarshal(a.Result, into))
		}
	case <-b.gone:
		b.t.Fatalf("%s: chromium ended", method)
	case <-time.After(30 * time.Second):
		b.t.Fatalf("%s: no answer within 30s", method)
	}
}

func (b *browser) send(session, method string, params object) <-chan answered {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	got := make(chan answered, 1)
	b.wait[b.last] = got
	if params == nil {
		params = object{}
	}
	m := object{"id": b.last, "method": method, "params": params}
	if session != "" {
		m["sessionId"] = session
	}
	text, err := json.Marshal(m)
	must(b.t, err)
	_, _ = b.in.Write(append(text, 0)) // whoever waits learns that it ended
	return got
}

// tab is one page, in a profile of its own.
type tab struct {
	*browser
	session string
	loaded  chan struct{}

	seen     sync.Mutex
	requests []string // addresses of all that was asked for
	faults   []string // dialogs, exceptions, what the policy refused, and other errors of the console
}

// tab opens an empty page of this width, in CSS pixels.
func (b *browser) tab(width int, dark bool) *tab {
	b.t.Helper()
	var context struct{ BrowserContextID string }
	b.call("", "Target.createBrowserContext", nil, &context)
	var target struct{ TargetID string }
	b.call("", "Target.createTarget", object{"url": "about:blank", "browserContextId": context.BrowserContextID}, &target)
	var session struct{ SessionID string }
	b.call("", "Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &session)
	p := &tab{browser: b, session: session.SessionID, loaded: make(chan struct{}, 100)}
	b.mu.Lock()
	b.tabs[p.session] = p
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		p.do(domain+".enable", nil, nil)
	}
	p.do("Emulation.setDeviceMetricsOverride", object{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.do("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	return p
}

func (p *tab) do(method string, params object, into any) {
	p.t.Helper()
	p.call(p.session, method, params, into)
}

// happened takes an event. It must not wait for the browser.
func (p *tab) happened(method string, params json.RawMessage) {
	var o struct {
		Message string
		Request struct{ URL string }
		Entry   struct {
			Level, Source, Text, URL string
		}
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	_ = json.Unmarshal(params, &o)
	p.seen.Lock()
	defer p.seen.Unlock()
	switch method {
	case "Page.loadEventFired":
		p.loaded <- struct{}{}
	case "Page.javascriptDialogOpening":
		p.faults = append(p.faults, "dialog: "+o.Message)
		p.send(p.session, "Page.handleJavaScriptDialog", object{"accept": false})
	case "Network.requestWillBeSent":
		p.requests = append(p.requests, o.Request.URL)
	case "Runtime.exceptionThrown":
		p.faults = append(p.faults, "exception: "+o.ExceptionDetails.Text+" "+o.ExceptionDetails.Exception.Description)
	case "Log.entryAdded":
		if o.Entry.Level == "error" {
			p.faults = append(p.faults, o.Entry.Source+": "+o.Entry.Text+" "+o.Entry.URL)
		}
	}
}

// wrong are the faults so far, which are then forgotten.
func (p *tab) wrong() []string {
	p.seen.Lock()
	defer p.seen.Unlock()
	all := p.faults
	p.faults = nil
	return all
}

// open goes to an address and waits until it is loaded.
func (p *tab) open(address string) {
	p.t.Helper()
	var answer struct{ ErrorText string }
	p.do("Page.navigate", object{"url": address}, &answer)
	if answer.ErrorText != "" {
		p.t.Fatalf("%s: %s", address, answer.ErrorText)
	}
	p.arrive()
}

// arrive waits until a page that something led to is loaded.
func (p *tab) arrive() {
	p.t.Helper()
	select {
	case <-p.loaded:
	case <-time.After(20 * time.Second):
		p.t.Fatal("no page was loaded within 20s")
	}
}

// eval returns what an expression is in the page.
func (p *tab) eval(format string, args ...any) any {
	p.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	expression := fmt.Sprintf(format, args...)
	p.do("Runtime.evaluate", object{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s", expression, answer.ExceptionDetails.Exception.Description)
	}
	return answer.Result.Value
}

func (p *tab) str(format string, args ...any) string {
	p.t.Helper()
	s, _ := p.eval(format, args...).(string)
	return s
}

func (p *tab) num(format string, args ...any) int {
	p.t.Helper()
	n, _ := p.eval(format, args...).(float64)
	return int(n)
}

// until waits for something to be true in the page.
func (p *tab) until(what, format string, args ...any) {
	p.t.Helper()
	until(p.t, 20*time.Second, what, func() bool { return p.eval(format, args...) == true })
}

// press presses keys: "Tab", "Shift+Tab", "Enter", or text to type.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		name, shift := strings.CutPrefix(key, "Shift+")
		down := object{"type": "keyDown", "key": name, "code": name}
		switch name {
		case "Tab":
			down["windowsVirtualKeyCode"] = 9
		case "Enter":
			down["windowsVirtualKeyCode"], down["text"] = 13, "\r"
		default:
			p.do("Input.insertText", object{"text": key}, nil)
			continue
		}
		if shift {
			down["modifiers"] = 8
		}
		p.do("Input.dispatchKeyEvent", down, nil)
		p.do("Input.dispatchKeyEvent", object{"type": "keyUp", "key": name, "code": name}, nil)
	}
}

// picture keeps what is seen as FEEDRING_PICTURES/name.png, where that is set.
func (p *tab) picture(name string) {
	p.t.Helper()
	dir := os.Getenv("FEEDRING_PICTURES")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	p.do("Page.captureScreenshot", object{"format": "png", "captureBeyondViewport": true}, &shot)
	image, err := base64.StdEncoding.DecodeString(shot.Data)
	must(p.t, err)
	must(p.t, os.WriteFile(filepath.Join(dir, name+".png"), image, 0o600))
}
