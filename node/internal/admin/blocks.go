package admin

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/blocks"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/blocking"
	"github.com/feedring/feedring/node/internal/storage"
)

// Blocks implements web.Backend.
func (d *Admin) Blocks() []web.Block {
	all := []web.Block{}
	for _, b := range d.cfg.Blocks.All() {
		all = append(all, toldBlock(&b))
	}
	return all
}

func toldBlock(b *blocks.Block) web.Block {
	return web.Block{Block: b.Target.String(), Since: b.Since, Until: b.Until, Reason: b.Reason}
}

// Block implements web.Backend.
func (d *Admin) Block(ctx context.Context, ask web.Block) (web.Block, bool, error) {
	target, err := parseBlock(ask.Block)
	if err != nil {
		return ask, false, err
	}
	if target.IsPeer(d.id) {
		return ask, false, &web.OwnKeyError{Key: target.String()}
	}
	one := blocks.Block{Target: target, Since: time.Now().UTC().Truncate(time.Second), Until: ask.Until.UTC(), Reason: strings.TrimSpace(ask.Reason)}
	known, err := d.cfg.Blocks.Add(ctx, one)
	switch {
	case errors.Is(err, blocking.ErrFull):
		return ask, false, &web.LimitError{Of: web.BlockTargets, Most: blocking.MaxBlocks}
	case err != nil:
		return ask, false, storage.NotKept(target.String()+" was not blocked", err)
	}
	d.cfg.Log.Info("blocked", "what", target, "until", one.Until, "reason", one.Reason)
	return toldBlock(&one), known, nil
}

// Unblock implements web.Backend.
func (d *Admin) Unblock(ctx context.Context, text string) error {
	target, err := parseBlock(text)
	if err != nil {
		return err
	}
	gone, err := d.cfg.Blocks.Remove(ctx, target)
	switch {
	case err != nil:
		return storage.NotKept(target.String()+" is still blocked", err)
	case !gone:
		return &web.UnknownBlockError{Target: target.String()}
	}
	d.cfg.Log.Info("unblocked", "what", target)
	return nil
}

func parseBlock(text string) (blocks.Target, error) {
	target, err := blocks.Parse(text)
	if err != nil {
		return target, &web.BlockTargetError{Text: text, Err: err}
	}
	return target, nil
}
