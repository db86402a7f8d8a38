package feedring_test

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
)

func ExampleParseTheme() {
	theme, err := feedring.ParseTheme(" News ")
	fmt.Println(theme, err)
	// Output: news <nil>
}

// A similar name of several, to suggest where a name is unknown.
func ExampleNearest() {
	fmt.Println(feedring.Nearest("sprot", []string{"news", "sport", "weather"}))
	// Output: sport
}

// An age is counted from now.
func ExampleParseTime() {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, text := range []string{"36h", "7d", "2026-03-01"} {
		t, err := feedring.ParseTime(text, now)
		fmt.Println(t.UTC().Format(time.RFC3339), err)
	}
	// Output:
	// 2026-03-03T00:00:00Z <nil>
	// 2026-02-25T12:00:00Z <nil>
	// 2026-03-01T00:00:00Z <nil>
}

func ExampleParseDuration() {
	d, err := feedring.ParseDuration("1.5w")
	fmt.Println(d, err)
	// Output: 252h0m0s <nil>
}

func ExampleProviderOf() {
	fmt.Println(feedring.ProviderOf("https://www.lemonde.fr/rss/une.xml"))
	// Output: lemonde.fr
}

func ExampleProvider_Matches() {
	p := feedring.Provider("lemonde.fr")
	fmt.Println(p.Matches("lemonde"), p.Matches("monde"))
	// Output: true false
}

// The theme, then perhaps the provider, then the address.
func ExampleParseFeedSpec() {
	spec, err := feedring.ParseFeedSpec("news=https://www.lemonde.fr/rss/une.xml")
	fmt.Println(spec.Theme, spec.Provider, spec.URL, err)
	// Output: news lemonde.fr https://www.lemonde.fr/rss/une.xml <nil>
}
