package disk

import (
	"math"

	"github.com/dgraph-io/badger/v4"
)

// narrow is whether an int has 32 bits here.
const narrow = math.MaxInt == math.MaxInt32

// narrowStall is how many tables level 0 may have there while compactors run.
const narrowStall = 3

// onNarrow sets the sizes of tables so that badger never fills the first buffer
// of the allocator that it builds a table in. With 32 bits the allocator, which
// is ristretto's, computes the place of its second buffer as (1)<<32 == 0: it
// begins the first one again, over what was written there, and the database
// loses rows without a word. The first buffer is twice the table's size, rounded
// up to a power of two: 16 MiB here. What a table takes of it:
//
//   - a block that holds any row is never copied to a larger one, so that two
//     blocks in a row hold more than one's size, and all of them take less than
//     twice what they hold and one block more;
//   - a memtable's table holds the memtable and the transaction that filled it,
//     115 % of 6 MiB: 15 MiB at most;
//   - any other one ends at 95 % of the table's size and the last rows: 13 MiB.
//
// All levels have tables of one size, for the allocators are used again. And
// fewer than four tables wait in level 0 while compactors run: they may make one of any
// size of four. Flatten does not, nor does a database that is still: see drain.
func onNarrow(o badger.Options) badger.Options {
	o.TableSizeMultiplier = 1
	return o.
		WithBlockSize(int(o.ValueThreshold)). // no row in a table is larger
		WithBaseTableSize(4<<20 + 1)
}
