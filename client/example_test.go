package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

func ExampleNew() {
	peer := startExamplePeer()
	defer peer.Close()

	c, err := client.New(context.Background(), client.Config{Peers: []string{peer.Addr}, Network: "example"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	_, err = c.Query(context.Background(), feedring.Query{Words: "moon AND"})
	fmt.Println(errors.Is(err, client.ErrBadQuery))
	// Output: true
}

func ExampleClient_Query() {
	peer := startExamplePeer("The moon tonight", "A new comet", "Comets and their tails")
	defer peer.Close()
	c, err := client.New(context.Background(), client.Config{Peers: []string{peer.Addr}, Network: "example"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	answer, err := c.Query(context.Background(), feedring.Query{Theme: "news", Words: "comet OR comets", Limit: 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Final.Status)
	for _, e := range answer.Entries {
		fmt.Println(e.Provider, e.Title)
	}
	// Output:
	// answered
	// observatory Comets and their tails
	// observatory A new comet
}

// A follower is given the first answer, and then each entry that is new.
func ExampleClient_Follow() {
	peer := startExamplePeer("The moon tonight")
	defer peer.Close()
	c, err := client.New(context.Background(), client.Config{Peers: []string{peer.Addr}, Network: "example"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	options := client.FollowOptions{First: func(a client.Answer) error {
		for _, e := range a.Entries {
			fmt.Println("first answer:", e.Title)
		}
		peer.Publish("A new comet")
		return nil
	}}
	err = c.Follow(context.Background(), feedring.Query{Theme: "news"}, options, func(e feedring.Entry, _ feedring.Cursor) error {
		fmt.Println("new:", e.Title)
		return client.ErrEnough
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// first answer: The moon tonight
	// new: A new comet
}

// A follower that keeps what Save is given shows nothing twice the next time.
func ExampleResume() {
	peer := startExamplePeer("The moon tonight")
	defer peer.Close()
	c, err := client.New(context.Background(), client.Config{Peers: []string{peer.Addr}, Network: "example"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	var kept []byte // in a file, say
	follow := func() error {
		options := client.FollowOptions{Save: func(r client.Resume) { kept, _ = json.Marshal(r) }}
		if kept != nil {
			options.Resume = new(client.Resume)
			if err := json.Unmarshal(kept, options.Resume); err != nil {
				return err
			}
		}
		return c.Follow(context.Background(), feedring.Query{Theme: "news"}, options, func(e feedring.Entry, _ feedring.Cursor) error {
			fmt.Println(e.Title)
			return client.ErrEnough
		})
	}
	if err := follow(); err != nil {
		log.Fatal(err)
	}
	peer.Publish("A new comet")
	if err := follow(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// The moon tonight
	// A new comet
}

func ExampleClient_Ring() {
	peer := startExamplePeer()
	defer peer.Close()
	c, err := client.New(context.Background(), client.Config{Peers: []string{peer.Addr}, Network: "example"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	groups, err := c.Ring(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range groups {
		fmt.Println(g.Theme, g.Peers)
	}
	// Output: news 1
}

func ExampleClient_Catalogue() {
	peer := startExamplePeer("The moon tonight")
	defer peer.Close()
	c, err := client.New(context.Background(), client.Config{Peers: []string{peer.Addr}, Network: "example"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	catalogue, err := c.Catalogue(context.Background(), "news")
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range catalogue.Peers {
		for _, f := range p.Feeds {
			fmt.Println(p.Role, f.Provider)
		}
	}

	_, err = c.Catalogue(context.Background(), "sport")
	var nobody *client.NoGroupError
	fmt.Println(errors.As(err, &nobody))
	// Output:
	// manager observatory
	// true
}
