package audit

import (
	"context"
	"errors"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/eventstore"
	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/tree"
	"hostpanel/projections"
)

// errNotSealed answers a request for the proof of an event that the tree does not
// hold yet.
var errNotSealed error = &domain.Error{
	Code: domain.Conflict, Message: "The event is not sealed yet. Try again in a second.", Reason: "not_sealed",
}

func (s *Service) tree() *tree.Tree { return tree.Open(s.store.Pool()) }

// Checkpoint is the signed checkpoint that observers are shown. False: a quorum of
// witnesses is needed, and has not cosigned it.
func (s *Service) Checkpoint(ctx context.Context) (text string, witnessed bool, err error) {
	o, err := s.tree().Current(ctx)
	text, witnessed = o.Shown()
	if errors.Is(err, tree.ErrNone) || err == nil && text == "" {
		return "", false, errForeign
	}
	return text, witnessed, eventstore.Unavailable(err)
}

// Sealed tells by which checkpoint the event at a position is proven, as [Service.Proof]
// does it.
func (s *Service) Sealed(ctx context.Context, position int64) (audit.Seal, error) {
	o, err := s.tree().Current(ctx)
	if errors.Is(err, tree.ErrNone) {
		return audit.Seal{}, nil
	}
	if err != nil || position > o.Size {
		return audit.Seal{}, eventstore.Unavailable(err)
	}
	by, accepted := o.Covering(position)
	witnesses := o.NeedsWitnesses()
	return audit.Seal{Size: by.Size, At: by.At, HasWitnesses: witnesses, IsWitnessed: witnesses && accepted}, nil
}

// Tile is a tile of the tree, or a bundle of its entries, by its address below "tile/".
func (s *Service) Tile(ctx context.Context, address string) ([]byte, error) {
	path, err := tlog.ParseTilePath(address)
	if err != nil {
		return nil, errForeign
	}
	data, err := s.tree().Tile(ctx, path)
	if errors.Is(err, tree.ErrNone) || errors.Is(err, tree.ErrNoTile) {
		return nil, errForeign
	}
	return data, eventstore.Unavailable(err)
}

// Proof proves that an event is in the log. An event of a stream that is foreign to
// the caller is answered like a missing one.
func (s *Service) Proof(ctx context.Context, who projections.Caller, position int64) (string, error) {
	stream, err := s.store.Reader().StreamAt(ctx, position)
	if err != nil {
		return "", err
	}
	if _, err := s.reach(ctx, who, stream); err != nil {
		return "", err
	}
	proof, err := s.tree().Proof(ctx, position)
	if errors.Is(err, tree.ErrNone) {
		return "", errNotSealed
	}
	if err == nil {
		s.Looked(ctx, who, stream.String())
	}
	return proof.Text(), eventstore.Unavailable(err)
}
