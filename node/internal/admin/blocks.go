package admin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/blocks"
	"github.com/feedring/feedring/internal/store"
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
	return web.Block{Block: b.Target.String(), Since: b.Since, Until: b.Until, Reason: b.Reason, Origin: b.Origin}
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
	case errors.Is(err, blocking.ErrRoom):
		return ask, false, &web.LimitError{Of: web.BlockKiB, Most: store.MaxValue >> 10}
	case err != nil:
		return ask, false, storage.NotKept(target.String()+" was not blocked", err)
	}
	d.cfg.Log.Info("blocked", "what", target, "until", one.Until, "reason", one.Reason)
	return toldBlock(&one), known, nil
}

// Unblock implements web.Backend.
func (d *Admin) Unblock(ctx context.Context, text string) (allowed bool, err error) {
	target, err := parseBlock(text)
	if err != nil {
		return false, err
	}
	gone, allowed, err := d.cfg.Blocks.Remove(ctx, target)
	switch {
	case errors.Is(err, blocking.ErrRoom):
		return false, &web.LimitError{Of: web.BlockKiB, Most: store.MaxValue >> 10}
	case err != nil:
		return false, storage.NotKept(target.String()+" is still blocked", err)
	case !gone:
		return false, &web.UnknownBlockError{Target: target.String()}
	}
	d.cfg.Log.Info("unblocked", "what", target, "listed", allowed)
	return allowed, nil
}

// FollowBlocks implements web.Backend.
func (d *Admin) FollowBlocks(ctx context.Context, list string) (web.BlockList, error) {
	is, err := d.cfg.Blocks.Follow(ctx, list)
	switch {
	case errors.Is(err, blocking.ErrLists):
		return web.BlockList{}, &web.LimitError{Of: web.BlockLists, Most: blocking.MaxLists}
	case err != nil:
		return web.BlockList{}, &web.BlockListError{List: list, Err: err}
	}
	d.cfg.Log.Info("block list followed", "list", list, "lines", is.Lines, "skipped", is.Skipped)
	return toldList(is), nil
}

// UnfollowBlocks implements web.Backend.
func (d *Admin) UnfollowBlocks(ctx context.Context, list string) error {
	err := d.cfg.Blocks.Unfollow(ctx, list)
	switch {
	case errors.Is(err, blocking.ErrNotListed):
		return &web.UnknownBlockListError{List: list}
	case err != nil:
		return storage.NotKept(list+" is still followed", err)
	}
	d.cfg.Log.Info("block list not followed any more", "list", list)
	return nil
}

// BlockLists implements web.Backend.
func (d *Admin) BlockLists() []web.BlockList {
	all := []web.BlockList{}
	for _, is := range d.cfg.Blocks.Lists() {
		all = append(all, toldList(is))
	}
	return all
}

func toldList(is blocking.Followed) web.BlockList {
	return web.BlockList{List: is.URL, Lines: is.Lines, Skipped: is.Skipped, Read: is.Read.UTC().Truncate(time.Second), Problem: is.Problem}
}

// warnings are what is wrong beside the peer itself, and what to do. Anybody may read them, so they
// do not say whose list the owner follows.
func (d *Admin) warnings() []string {
	all := d.cfg.Members.Warnings()
	if d.cfg.LeftFleet {
		all = append(all, web.WarnLeftFleet)
	}
	if slices.ContainsFunc(d.cfg.Blocks.Lists(), func(is blocking.Followed) bool { return is.Problem != "" }) {
		all = append(all, web.AdviseBlockList.To("a block list that is followed could not be read"))
	}
	return all
}

func parseBlock(text string) (blocks.Target, error) {
	target, err := blocks.Parse(text)
	if err != nil {
		return target, &web.BlockTargetError{Text: text, Err: err}
	}
	return target, nil
}
