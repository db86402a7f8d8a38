package schedule

import "math"

// Cheapest is the least price of a fetch. Where the budget gives more than that,
// it is left: a fetch that saves one entry of fifty an hour's wait helps no
// reader, and costs the site as much as any.
const Cheapest = 0.02

const dearest = 1e7 // no fetch is worth it

// Price returns the price that spends so many fetches an hour on the population, or
// comes nearest to that. What a lost entry counts for is chosen with it, so that
// as large a part is missed of what MinMissing would miss with the same fetches as
// entries wait of what they would with MinDelay: if it counted for less more
// would be lost for the sake of delay, if for more fetches would go where little is
// published, and find entries late. It takes some tens of milliseconds, and more
// where lives are known.
func (c *Population) Price(fetchesAnHour float64, within Bounds) Price {
	m := c.market(within)
	spent := fetchesAnHour
	if price, o := m.meets(fetchesAnHour, Horizon.Hours(), Price{}); price < Cheapest*1.001 {
		spent = o.fetches // the others get no more
	}
	delay, missing := m.rival(MinDelay, spent), m.rival(MinMissing, spent)
	// If a lost entry counted for less than an interval, nothing would be fetched
	// at; and who fetches all feeds so often gives none up.
	least := m.feeds() / fetchesAnHour
	if within.Longest < Horizon {
		least = within.Longest.Hours()
	}
	low, high := math.Log(least), math.Log(Horizon.Hours())
	for range 12 {
		middle := (low + high) / 2
		_, ours := m.meets(fetchesAnHour, math.Exp(middle), Price{})
		if ours.missed()*delay.delay() < ours.delay()*missing.missed() {
			high = middle
		} else {
			low = middle
		}
	}
	loss := math.Exp((low + high) / 2)
	price, _ := m.meets(fetchesAnHour, loss, Price{})
	return Price{Fetch: price, Loss: loss, Rates: m.rates}
}

// Reprice returns p for another number of fetches, and other feeds: what a lost
// entry counts for stays.
func (c *Population) Reprice(p Price, fetchesAnHour float64, within Bounds) Price {
	m := c.market(within)
	p.Fetch, _ = m.meets(fetchesAnHour, p.Loss, p)
	p.Rates = m.rates
	return p
}

// meets finds the price of a fetch that spends so many, and what becomes of the
// entries. Where many feeds are alike, no price may spend just so many: then it
// is the dearer one, and the outcome of the two in turns.
func (m *market) meets(fetches, loss float64, near Price) (float64, outcome) {
	low, high, rounds := math.Log(Cheapest), math.Log(dearest), 20
	if near.Fetch > 0 {
		low, high, rounds = max(low, math.Log(near.Fetch/4)), math.Log(near.Fetch*4), 10
	}
	var few, many outcome
	for range rounds {
		middle := (low + high) / 2
		if o := m.at(Price{Fetch: math.Exp(middle), Loss: loss, Rates: m.rates}); o.fetches > fetches {
			low, many = middle, o
		} else {
			high, few = middle, o
		}
	}
	if part := (fetches - few.fetches) / (many.fetches - few.fetches); many.fetches > 0 && part > 0 && few.entries > 0 {
		few.seen += part * (many.seen - few.seen)
		few.read += part * (many.read - few.read)
		few.waits += part * (many.waits - few.waits)
	}
	return math.Exp(high), few
}
