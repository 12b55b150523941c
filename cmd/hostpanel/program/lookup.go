package program

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/projections"
)

// AtConsole is who acts from the command line: a user of this machine, without
// an account in the panel.
var AtConsole = domain.Metadata{Actor: "system:console"}

// OrderNamed finds an order by its number or its id.
func (p *Program) OrderNamed(ctx context.Context, name string) (projections.Order, error) {
	scope := p.Tables.For(projections.System)
	id, err := uuid.Parse(strings.TrimPrefix(name, "order-"))
	if err == nil {
		found, err := scope.Orders().Order(ctx, id)
		return found, orNamed(err, name)
	}
	found, err := scope.Orders().OrderByNumber(ctx, strings.ToUpper(name))
	return found, orNamed(err, name)
}

func orNamed(err error, name string) error {
	if domain.CodeOf(err) == domain.NotFound {
		return fmt.Errorf("there is no order %s", name)
	}
	return err
}
