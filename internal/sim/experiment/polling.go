package experiment

// Polling is RSS as it is: each reader looks every cfg.Poll. Of its looks, one
// for each entry brings it, the others bring nothing new: with conditional
// requests they are cheap, but they are requests.
func Polling(cfg CompareConfig, readers int) SystemLoad {
	r := float64(readers)
	return SystemLoad{Origin: r * perHour(cfg.Poll), Publisher: r, Busiest: r, All: r, Lag: cfg.Poll.Seconds() / 2}
}
