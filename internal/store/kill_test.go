package store

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/feedring/feedring"
)

// A feed has generations, each of which is forgotten before the next one begins.
type generation struct{ feed, number int }

func (g generation) mark() string { return fmt.Sprintf("mark%d.%d.", g.feed, g.number) }

// item is entry n of a generation. Its payload has the generation's mark.
func (g generation) item(n int) Item {
	it := makeItem(random(uint64(g.feed)<<32|uint64(g.number)<<16|uint64(n)), g.feed, n)
	it.Position.Epoch = uint64(g.number)
	it.Payload = append([]byte(g.mark()), it.Payload...)
	return it
}

const perGeneration = 24

// changeForEver appends entries, takes one of them back, forgets them and begins
// anew, while the store moves what it holds all the time. It tells what it begins
// and what was acknowledged, a line each.
func changeForEver(dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	restless(s)
	for {
		for f := range 4 {
			g, n := generation{f, 1}, 0
			if head, ok := s.Head(g.item(0).Ref); ok {
				g.number, n = int(head.Last.Epoch), int(head.Last.Sequence)
			} else if last, err := s.Value(BucketMeta, fmt.Sprint(f)); err == nil {
				g.number = int(last[0]) + 1
			}
			if err := g.step(s, n); err != nil {
				return err
			}
		}
	}
}

// step does what follows n entries.
func (g generation) step(s *Store, n int) error {
	if n < perGeneration {
		items := []Item{g.item(n), g.item(n + 1), g.item(n + 2)}
		if err := s.Append(ctx, items); err != nil {
			return err
		}
		fmt.Println("appended", g.feed, g.number, n+2)
		return nil
	}
	first := g.item(0)
	back := g.item(n)
	back.ID, back.Text, back.Retraction, back.Payload = first.ID, nil, true, []byte("back")
	back.Takes = []feedring.Taken{{Position: first.Position, Hash: first.Hash, Seen: first.Seen}}
	fmt.Println("forgets", g.feed, g.number, 0)
	if err := s.Append(ctx, []Item{back}); err != nil {
		return err
	}
	if err := s.Put(ctx, BucketMeta, fmt.Sprint(g.feed), []byte{byte(g.number)}); err != nil {
		return err
	}
	if err := s.Forget(ctx, first.Ref); err != nil {
		return err
	}
	fmt.Println("forgot", g.feed, g.number, 0)
	return nil
}

// killed is what is known of the child's work.
type killed struct {
	appended          map[generation]int // the last entry that was acknowledged
	leaves, forgotten map[generation]bool
}

func newKilled() *killed {
	return &killed{map[generation]int{}, map[generation]bool{}, map[generation]bool{}}
}

// after runs the child until it has said so many lines.
func (k *killed) after(t *testing.T, dir string, c crash, lines int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashDir+"="+dir, crashWork+"=1")
	out, err := child.StdoutPipe()
	check(t, err)
	check(t, child.Start())
	read := bufio.NewScanner(out)
	for n := 0; read.Scan(); n++ {
		var what string
		var g generation
		var last int
		if _, err := fmt.Sscan(read.Text(), &what, &g.feed, &g.number, &last); err != nil {
			if n > lines { // it noticed how it ends
				continue
			}
			t.Fatalf("the child says %q", read.Text())
		}
		switch what {
		case "appended":
			k.appended[g] = last
		case "forgets":
			k.leaves[g] = true
		case "forgot":
			k.forgotten[g] = true
		}
		if n == lines {
			check(t, c.end(child)) // goes on reading what it had said
		}
	}
	child.Wait()
	c.recover(t)
}

// compare has the store hold all that was acknowledged, and nothing of what was
// forgotten anywhere on disk.
func (k *killed) compare(t *testing.T, s *Store) {
	t.Helper()
	checkValues(t, s)
	checkOld(t, s)
	for g, last := range k.appended {
		for n := 0; n <= last && !k.leaves[g]; n++ {
			want := g.item(n)
			got, err := s.Get(want.Ref, want.Position)
			check(t, err)
			same(t, "after the crash", []Item{got}, []Item{want})
		}
	}
	for g := range k.forgotten {
		eventually(t, g.mark()+" is erased", func() bool { return segmentsWith(t, s.dir, g.mark()) == 0 })
	}
	if s.Damaged() > 0 {
		t.Errorf("%d entries are damaged", s.Damaged())
	}
}

// segmentsWith counts the segments with a text.
func segmentsWith(t *testing.T, dir, text string) int {
	t.Helper()
	to, err := os.MkdirTemp(filepath.Dir(dir), "links") // on the same file system
	check(t, err)
	defer os.RemoveAll(to)
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	check(t, err)
	for _, name := range files {
		if err := os.Link(name, filepath.Join(to, filepath.Base(name))); !os.IsNotExist(err) { // it may be removed meanwhile
			check(t, err)
		}
	}
	return onDisk(t, to, text)
}

// TestKilledAnywhere kills a process that appends, forgets, takes back, erases and
// moves, again and again.
func TestKilledAnywhere(t *testing.T) { testChanges(t, t.TempDir(), kill{}) }

func testChanges(t *testing.T, dir string, c crash) {
	k := newKilled()
	for round := range 6 {
		k.after(t, dir, c, 60+round*37)
		s := open(t, dir, Options{})
		k.compare(t, s)
		check(t, s.Close())
	}
	if len(k.forgotten) < 10 {
		t.Errorf("%d generations were forgotten", len(k.forgotten))
	}
}

// TestKilledInUpgrade kills a process that brings a store of version 3 up to date
// while it changes it.
func TestKilledInUpgrade(t *testing.T) { testUpgrade(t, t.TempDir(), kill{}) }

func testUpgrade(t *testing.T, dir string, c crash) {
	k := newKilled()
	k.after(t, dir, c, 200)
	s := open(t, dir, Options{})
	k.forgotten = nil // the tables keep it until they are compacted
	k.compare(t, s)
	for f := range 20 {
		g := generation{100 + f, 1}
		for n := range 20 {
			mustAppend(t, s, g.item(n))
		}
		k.appended[g] = 19
	}
	downgrade(t, s)
	for range 5 {
		k.forgotten = map[generation]bool{}
		k.after(t, dir, c, 2)
		s = open(t, dir, Options{})
		k.compare(t, s)
		check(t, s.Close())
	}
	s = open(t, dir, Options{})
	eventually(t, "all is moved", func() bool { return upgraded(t, s) })
	k.compare(t, s)
}
