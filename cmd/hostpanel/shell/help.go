package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"hostpanel/cmd/hostpanel/config"
)

// Help is `hostpanel help`. [Arguments] makes `--help` of it.
type Help struct {
	Command []string `arg:"" optional:"" help:"A command, such as: orders show."`
}

// Run is never reached: [Arguments] replaces the command.
func (Help) Run(k *kong.Context) error { return k.PrintUsage(false) }

// SettingsHelp is the flag --help-settings.
type SettingsHelp bool

// BeforeReset prints the settings in place of the command.
func (SettingsHelp) BeforeReset(k *kong.Context) error {
	flags := map[string]*kong.Flag{}
	for _, flag := range k.Model.Flags {
		for _, variable := range flag.Envs {
			flags[variable] = flag
		}
	}
	fmt.Fprintln(k.Stdout, "Settings, each an environment variable and a flag of every command (docs/configuration.md).")
	fmt.Fprintln(k.Stdout, "Secrets are no flags. A variable NAME_FILE names a file with the secret.")
	for _, s := range config.All() {
		name := s.Variable + ", --"
		if s.Secret {
			name = fmt.Sprintf("%s=%s or %s_FILE=PATH", s.Variable, s.Placeholder, s.Variable)
		} else {
			name += flags[s.Variable].Name + "=" + s.Placeholder
		}
		fmt.Fprintf(k.Stdout, "\n  %s\n      %s\n", name, s.Help)
	}
	k.Exit(0)
	return nil
}

// An explained command says what its longer flags and arguments are about, by name.
type explained interface{ Abouts() map[string]string }

// Explain gives every flag and argument that has no text in its tag that of its command.
func Explain(k *kong.Kong) error {
	explain(k.Model.Node)
	return nil
}

func explain(node *kong.Node) {
	if command, is := node.Target.Interface().(explained); is {
		abouts := command.Abouts()
		for _, flag := range node.Flags {
			flag.Help = cmp.Or(flag.Help, abouts[flag.Name])
		}
		for _, argument := range node.Positional {
			argument.Help = cmp.Or(argument.Help, abouts[argument.Name])
		}
	}
	for _, child := range node.Children {
		explain(child)
	}
}

// PrintHelp is that of kong without the settings, which --help-settings prints,
// and with subcommands before flags.
func PrintHelp(options kong.HelpOptions, k *kong.Context) error {
	for _, flag := range k.Model.Flags {
		flag.Hidden = flag.Hidden || flag.Group != nil && flag.Group.Key == "settings"
	}
	options.FlagsLast = true
	return kong.DefaultHelpPrinter(options, k)
}

// Arguments replaces the ways to ask for help or the version by those that the
// parser knows: no argument, a group of commands alone, help, --version.
func Arguments(k *kong.Kong, args []string) []string {
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if len(args) == 1 && args[0] == "--version" {
		return []string{"version"}
	}
	if isGroup(k.Model.Node, args) {
		return append(slices.Clone(args), "--help")
	}
	return args
}

// isGroup tells whether the arguments only name a node with commands below it.
func isGroup(node *kong.Node, args []string) bool {
	for _, arg := range args {
		if node = childNamed(node, arg); node == nil || strings.HasPrefix(arg, "-") {
			return false
		}
	}
	return len(node.Children) > 0
}
