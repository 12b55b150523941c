package console

import (
	"context"
	"fmt"
	"time"

	"hostpanel/adapters/conformance"
)

// Tried prints what the checks of a suite find, as they go. clean is the command that takes
// away what an interrupted run has left: the beginning of its names follows.
func (c Console) Tried(ctx context.Context, clean string, try func(names string, tell func(conformance.Result))) error {
	names, ink := conformance.NewTag(), c.Ink()
	fmt.Fprintln(c.Out, "All names begin with "+names+".")
	var held, failed, rest int
	try(names, func(r conformance.Result) {
		verdict := ink.Green("held     ")
		switch {
		case r.Held():
			held++
		case r.NotTried != "" && len(r.Left) == 0:
			rest++
			verdict, r.Check = ink.Faint("not tried"), r.Check+": "+r.NotTried
		default:
			failed++
			verdict = ink.Red("failed   ")
		}
		fmt.Fprintf(c.Out, "%s %s (%s)\n", verdict, r.Check, r.Took.Round(time.Millisecond))
		for _, why := range append(r.Failures, prefixed("not taken away: ", r.Left)...) {
			fmt.Fprintln(c.Out, "            "+OneLine(why))
		}
	})
	fmt.Fprintf(c.Out, "%d held, %d failed, %d not tried.\n", held, failed, rest)
	if failed > 0 || ctx.Err() != nil {
		fmt.Fprintln(c.Out, "What may be left is removed by: "+clean+" "+names)
		return ErrReported
	}
	return nil
}

// Cleaned prints what could not be taken away of the checks whose names begin so.
func (c Console) Cleaned(names string, left []string) error {
	for _, one := range left {
		fmt.Fprintln(c.Out, "left     ", one)
	}
	if len(left) > 0 {
		return ErrReported
	}
	fmt.Fprintln(c.Out, "nothing is left whose name begins with", names)
	return nil
}

func prefixed(with string, all []string) (out []string) {
	for _, one := range all {
		out = append(out, with+one)
	}
	return out
}
