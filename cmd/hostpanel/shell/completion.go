// Package shell has the commands about the program itself: its version, its help,
// and the completion of its command line in shells.
package shell

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"hostpanel/cmd/hostpanel/console"
)

// The scripts ask the program itself what can follow, so they do not change
// with its commands.
var (
	//go:embed completion.bash
	bash string
	//go:embed completion.zsh
	zsh string
	//go:embed completion.fish
	fish string
)

// Completion is `hostpanel completion`.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help tells where each shell wants the script.
func (Completion) Help() string {
	return `For a session, bash: source <(hostpanel completion bash); fish: hostpanel completion fish | source.
For good, as root: bash: /usr/share/bash-completion/completions/hostpanel; zsh: a file _hostpanel in a folder of $fpath;
fish: /usr/share/fish/vendor_completions.d/hostpanel.fish.`
}

// Run prints the script for a shell.
func (cmd Completion) Run(c console.Console) error {
	_, err := fmt.Fprint(c.Out, map[string]string{"bash": bash, "zsh": zsh, "fish": fish}[cmd.Shell])
	return err
}

// Complete is `hostpanel complete`, which the scripts run.
type Complete struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints what can stand in place of the last word.
func (cmd Complete) Run(k *kong.Context, c console.Console) error {
	words := cmd.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, word := range candidates(k.Model.Node, words) {
		fmt.Fprintln(c.Out, word)
	}
	return nil
}

// candidates are the words that can stand in place of the last one: commands,
// or flags. There are none where a value belongs.
func candidates(node *kong.Node, words []string) (found []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	before, last := words[:len(words)-1], words[len(words)-1]
	node, value := walk(node, before)
	switch {
	case node == nil:
		return nil
	case value != nil:
		found = value.EnumSlice()
	case strings.HasPrefix(last, "-"):
		found = flagsOf(node)
	default:
		found = namesOf(node)
	}
	return slices.DeleteFunc(found, func(word string) bool { return word == "" || !strings.HasPrefix(word, last) })
}

// walk follows the words down to a command, nil if there is none. The value is that of a flag which
// the last of them has begun.
func walk(node *kong.Node, words []string) (_ *kong.Node, value *kong.Value) {
	for _, word := range words {
		if value != nil {
			value = nil
			continue
		}
		if flag := flagNamed(node, word); flag != nil && !flag.IsBool() {
			value = flag.Value
		}
		child := childNamed(node, word)
		switch {
		case child != nil:
			node = child
		case len(node.Children) > 0 && !strings.HasPrefix(word, "-"):
			return nil, nil // no such command
		}
	}
	return node, value
}

func childNamed(node *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return node.Children[i]
}

func flagNamed(node *kong.Node, word string) *kong.Flag {
	for _, level := range node.AllFlags(false) {
		for _, flag := range level {
			if word == "--"+flag.Name {
				return flag
			}
		}
	}
	return nil
}

func flagsOf(node *kong.Node) (names []string) {
	for _, level := range node.AllFlags(false) {
		for _, flag := range level {
			names = append(names, "--"+flag.Name)
		}
	}
	slices.Sort(names)
	return names
}

// namesOf are the subcommands, or the values of the argument where it has few.
func namesOf(node *kong.Node) (names []string) {
	for _, child := range node.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	for _, argument := range node.Positional {
		names = append(names, argument.EnumSlice()...)
	}
	return names
}
