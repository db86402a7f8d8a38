package options

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/wire/charters"
)

// Network is what --network of serve says: a name alone, or that of a charter.
type Network struct {
	Name    string
	Charter *charter.Charter // nil: only the name is given
	Code    string           // of an invitation to it; empty: none is given
}

// errNetwork is for what leads to no network.
var errNetwork = errors.New("write a network's name, the file of its charter with a / in its path, or an invitation as the command network invite prints it at the other peer")

// ParseNetwork reads a network's name, an invitation, or what is in the file of a charter. A
// name has neither capitals nor slashes, and an invitation is longer than a name.
func ParseNetwork(value string) (Network, error) {
	const maxName, maxCharter = 32, 64 << 10
	switch {
	case strings.ContainsAny(value, `/\`):
		f, err := os.Open(value)
		if err != nil {
			return Network{}, fmt.Errorf("%w: %w", err, errNetwork)
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, maxCharter))
		if err != nil {
			return Network{}, err
		}
		c, err := charters.Decode(text)
		if err != nil {
			return Network{}, fmt.Errorf("%s is no charter: name DATA/network/charter of a member", value)
		}
		return Network{Name: c.Network(), Charter: c}, nil
	case len(value) > maxName:
		code, err := charters.ParseCode(value)
		if err != nil {
			return Network{}, errNetwork
		}
		return Network{Name: code.Charter.Network(), Charter: code.Charter, Code: value}, nil
	}
	return Network{Name: value}, nil
}

// Given is the network of the configuration, after Config.
func (o *Serve) Given() Network { return o.given }
