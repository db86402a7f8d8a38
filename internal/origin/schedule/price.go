package schedule

import "math"

// Cheapest is the least price of a look. Where the budget gives more than that,
// it is left: a look that saves one entry of fifty an hour's wait helps no
// reader, and costs the site as much as any.
const Cheapest = 0.02

const dearest = 1e7 // no look is worth it

// Price returns the price that spends so many looks an hour on the population, or
// comes nearest to that. What a lost entry counts for is chosen with it, so that
// as large a part is missed of what MinMissing would miss with the same looks as
// entries wait of what they would with MinDelay: if it counted for less more
// would be lost for the sake of delay, if for more looks would go where little is
// published, and find entries late. It takes some tens of milliseconds, and more
// where lives are known.
func (c *Population) Price(looksAnHour float64, within Bounds) Price {
	m := c.market(within)
	spent := looksAnHour
	if look, o := m.meets(looksAnHour, Horizon.Hours(), Price{}); look < Cheapest*1.001 {
		spent = o.looks // the others get no more
	}
	delay, missing := m.rival(MinDelay, spent), m.rival(MinMissing, spent)
	// If a lost entry counted for less than an interval, nothing would be looked
	// at; and who looks at all feeds so often gives none up.
	least := m.feeds() / looksAnHour
	if within.Longest < Horizon {
		least = within.Longest.Hours()
	}
	low, high := math.Log(least), math.Log(Horizon.Hours())
	for range 12 {
		middle := (low + high) / 2
		_, ours := m.meets(looksAnHour, math.Exp(middle), Price{})
		if ours.missed()*delay.delay() < ours.delay()*missing.missed() {
			high = middle
		} else {
			low = middle
		}
	}
	loss := math.Exp((low + high) / 2)
	look, _ := m.meets(looksAnHour, loss, Price{})
	return Price{Look: look, Loss: loss, Rates: m.rates}
}

// Reprice returns p for another number of looks, and other feeds: what a lost
// entry counts for stays.
func (c *Population) Reprice(p Price, looksAnHour float64, within Bounds) Price {
	m := c.market(within)
	p.Look, _ = m.meets(looksAnHour, p.Loss, p)
	p.Rates = m.rates
	return p
}

// meets finds the price of a look that spends so many, and what becomes of the
// entries. Where many feeds are alike, no price may spend just so many: then it
// is the dearer one, and the outcome of the two in turns.
func (m *market) meets(looks, loss float64, near Price) (float64, outcome) {
	low, high, rounds := math.Log(Cheapest), math.Log(dearest), 20
	if near.Look > 0 {
		low, high, rounds = max(low, math.Log(near.Look/4)), math.Log(near.Look*4), 10
	}
	var few, many outcome
	for range rounds {
		middle := (low + high) / 2
		if o := m.at(Price{Look: math.Exp(middle), Loss: loss, Rates: m.rates}); o.looks > looks {
			low, many = middle, o
		} else {
			high, few = middle, o
		}
	}
	if part := (looks - few.looks) / (many.looks - few.looks); many.looks > 0 && part > 0 && few.entries > 0 {
		few.seen += part * (many.seen - few.seen)
		few.waits += part * (many.waits - few.waits)
	}
	return math.Exp(high), few
}
