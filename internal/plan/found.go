package plan

// Untold stands for what a running peer does not tell of a resource.
const Untold = -1

// least is the share of a resource below which nothing follows from a factor.
const least = 0.01

// Comparison is a resource of running peers, summed over them: what the costs
// predict for the interests that they have, and what was found.
type Comparison struct {
	Resource  string  `json:"resource"`
	Predicted float64 `json:"predicted"`
	Found     float64 `json:"found"`   // Untold: by one peer at least
	Factor    float64 `json:"factor"`  // found to predicted; 1 where it is not applied
	Applied   bool    `json:"applied"` // no: untold, or all use less than a hundredth of the resource
	Fullest   float64 `json:"fullest"` // share that the peer uses that has least left
	Peer      int     `json:"peer"`    // its number in what was given
	Beyond    bool    `json:"beyond"`  // it uses more than is not to be spared
}

// Against holds what running peers use, their interests among it, against what the
// costs say of them. Of a load its feeds, limit, poll, machine and spare count.
func (l Load) Against(c Costs, found []Use) []Comparison {
	all := l.all(&c)
	var compared []Comparison
	for i := range all {
		x := Comparison{Resource: Names[i], Factor: 1, Fullest: Untold}
		for n, use := range found {
			own := l
			own.Interests = int64(use[Interests])
			fixed, whole, spread := own.needs(&c)
			x.Predicted += fixed[i] + whole[i] + spread[i]
			if use[i] < 0 || x.Found == Untold {
				x.Found = Untold
			} else {
				x.Found += use[i]
			}
			if share := use[i] / all[i]; use[i] >= 0 && share > x.Fullest {
				x.Fullest, x.Peer = share, n
			}
		}
		x.Beyond = x.Fullest > l.usable(i, all[i])/all[i]
		few := least * all[i] * float64(len(found))
		if i != Interests && x.Predicted > 0 && x.Found > 0 && max(x.Predicted, x.Found) >= few {
			x.Factor, x.Applied = x.Found/x.Predicted, true
		}
		compared = append(compared, x)
	}
	return compared
}

// Factors are what Reckon is to multiply the costs of each resource by.
func Factors(of []Comparison) Use {
	by := unscaled()
	for i, x := range of {
		by[i] = x.Factor
	}
	return by
}

func unscaled() Use {
	var by Use
	for i := range by {
		by[i] = 1
	}
	return by
}

// all is what each peer has.
func (l Load) all(c *Costs) Use {
	m := l.Machine
	return Use{m.Memory, m.Cores, m.Bandwidth, m.Bandwidth, c[MostInterests]}
}

// usable is how much of all there is of a resource is not to be spared.
func (l Load) usable(resource int, all float64) float64 {
	if resource == Interests {
		return all
	}
	return all * (1 - l.Spare)
}
