package ask

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/feedring/feedring/internal/olddata"
)

func TestOldFollowersKeepEveryField(t *testing.T) {
	dir := filepath.Join(olddata.Unpack(t), "follow")
	for _, name := range []string{"morning.json", "network.json"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		olddata.SameJSON[savedJSON](t, name, text)
	}
}
