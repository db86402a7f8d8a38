package audience

import (
	"math"
	"math/bits"
)

// hyperLogLog estimates how many different hashes were added: exactly for a few, to
// some 3 % for many (HyperLogLog of 1,024 registers, with linear counting while
// registers are empty). Flajolet, Fusy, Gandouet, Meunier: "HyperLogLog", 2007.
type hyperLogLog struct{ most [1 << registerBits]uint8 }

const registerBits = 10

func (s *hyperLogLog) add(hash uint64) {
	at := hash >> (64 - registerBits)
	rank := uint8(bits.LeadingZeros64(hash<<registerBits|1<<(registerBits-1))) + 1
	s.most[at] = max(s.most[at], rank)
}

func (s *hyperLogLog) count() int {
	const m = float64(len(s.most))
	sum, empty := 0.0, 0
	for _, rank := range s.most {
		sum += math.Ldexp(1, -int(rank))
		if rank == 0 {
			empty++
		}
	}
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && empty > 0 {
		estimate = m * math.Log(m/float64(empty))
	}
	return int(math.Round(estimate))
}
