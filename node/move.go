package node

import (
	"context"

	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/node/internal/moving"
)

// Moved says what a move took along.
type Moved = moving.Moved

// ErrFormer is for a data directory that still has what an earlier move left.
var ErrFormer = moving.ErrFormer

// Move seals the history of a stopped peer anew for the network of a code or a charter (code
// empty), in a new epoch. Ids stay. Until all is on disk beside it the directory stays as it
// is; afterwards what others published, and what else belongs to the old network, is in the folder
// "former". ErrStoreInUse while the peer runs.
func Move(ctx context.Context, data string, to *charter.Charter, code string) (Moved, error) {
	return moving.Move(ctx, data, to, code)
}
