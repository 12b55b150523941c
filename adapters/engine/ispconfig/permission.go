package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hostpanel/domain"
)

// Permissions calls the reading function of each group that the remote user
// needs, for an object that does not exist. It fails with the names of those
// that the engine refuses. ISPConfig grants the functions of a group together.
func (e *Engine) Permissions(ctx context.Context) error {
	var missing []string
	for _, r := range resources {
		for _, stem := range r.stems {
			_, err := e.api.rows(ctx, stem+"_get", members{r.byID(members{{r.key, int64(0)}})}, []string{r.key})
			if refused, is := errors.AsType[*domain.Failure](err); is && refused.Code == consequences[noPermission].code {
				missing = append(missing, stem+"_get")
			} else if err != nil {
				return err
			}
		}
	}
	if len(missing) > 0 {
		return domain.Fail(
			domain.Permanent, consequences[noPermission].code,
			fmt.Errorf("the remote user lacks the functions of %s", strings.Join(missing, ", ")),
		)
	}
	return nil
}
