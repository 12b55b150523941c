package proxmoxtest

import (
	"regexp"
	"slices"
	"strings"
)

// A call is one of the API: with the parameters that it knows, and the privileges that it
// asks for on the machine of its path.
type call struct {
	method, path string
	privileges   []string
	known        map[string]*regexp.Regexp // nil: any text
	config       bool                      // the settings of a machine are parameters too
	required     []string
	do           func(*Server, request) (any, error)
	of           func(*Server, *machine, request) (any, error) // instead: with the machine of the path
}

func (c *call) rule(name string) (*regexp.Regexp, bool) {
	if rule, is := c.known[name]; is {
		return rule, true
	}
	if !c.config {
		return nil, false
	}
	for _, setting := range settings {
		if setting.name.MatchString(name) {
			return setting.value, true
		}
	}
	return nil, false
}

type rules = map[string]*regexp.Regexp

var (
	number   = pattern(`\d+`)
	flagRule = pattern(`[01]`)
	vmid     = pattern(`[1-9]\d{2,8}`)
	dnsName  = pattern(`([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?\.)*[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?`)
	configID = pattern(`(?i)[a-z][a-z0-9_-]{1,39}`)
	policy   = pattern(`ACCEPT|REJECT|DROP`)
)

const (
	atMachine  = "nodes/:node/qemu/:vmid"
	atFirewall = atMachine + "/firewall"
	anyConfig  = "VM.Config.Disk|VM.Config.CDROM|VM.Config.CPU|VM.Config.Memory|VM.Config.Network|VM.Config.HWType|" +
		"VM.Config.Options|VM.Config.Cloudinit"
)

var calls []call

func init() { calls = slices.Concat(readCalls, machineCalls, firewallCalls) } // the table refers to itself

var readCalls = []call{
	{method: "GET", path: "cluster/resources", known: rules{"type": pattern(`vm|storage|node|sdn`)}, do: resources},
	{method: "GET", path: "cluster/nextid", known: rules{"vmid": vmid}, do: nextID},
	{method: "GET", path: "nodes/:node/qemu", known: rules{"full": flagRule}, do: list},
	{
		method: "GET", path: "nodes/:node/tasks", do: listTasks,
		known: rules{"source": pattern(`archive|active|all`), "vmid": vmid, "typefilter": nil, "limit": number, "errors": flagRule},
	},
	{method: "GET", path: "nodes/:node/tasks/:upid/status", do: taskStatus},
	{method: "GET", path: "nodes/:node/tasks/:upid/log", known: rules{"start": number, "limit": number}, do: taskLog},
	{method: "GET", path: "nodes/:node/storage/:storage/status", do: storageStatus},
	{method: "GET", path: "nodes/:node/storage/:storage/content", known: rules{"content": nil, "vmid": vmid}, do: storageContent},
}

var machineCalls = []call{
	{
		method: "POST", path: atMachine + "/clone", privileges: []string{"VM.Clone"}, do: clone,
		known: rules{
			"newid": vmid, "name": dnsName, "description": nil, "pool": configID, "snapname": configID, "storage": configID,
			"format": pattern(`raw|qcow2|vmdk`), "full": flagRule, "target": dnsName, "bwlimit": number,
		},
		required: []string{"newid"},
	},
	{
		method: "GET", path: atMachine + "/config", privileges: []string{"VM.Audit"}, of: getConfig,
		known: rules{"current": flagRule, "snapshot": configID},
	},
	{method: "GET", path: atMachine + "/pending", privileges: []string{"VM.Audit"}, of: getPending},
	{
		method: "PUT", path: atMachine + "/config", privileges: []string{anyConfig}, config: true, do: putConfig,
		known: rules{"delete": nil, "revert": nil, "force": flagRule, "digest": nil, "skiplock": flagRule},
	},
	{
		method: "POST", path: atMachine + "/config", privileges: []string{anyConfig}, config: true, do: postConfig,
		known: rules{"delete": nil, "revert": nil, "force": flagRule, "digest": nil, "skiplock": flagRule, "background_delay": number},
	},
	{
		method: "PUT", path: atMachine + "/resize", privileges: []string{"VM.Config.Disk"}, do: resize,
		known:    rules{"disk": pattern(`(scsi|virtio|sata|ide)\d+`), "size": pattern(`\+?\d+(\.\d+)?[KMGT]?`), "digest": nil},
		required: []string{"disk", "size"},
	},
	{method: "GET", path: atMachine + "/status/current", privileges: []string{"VM.Audit"}, of: status},
	{
		method: "POST", path: atMachine + "/status/start", privileges: []string{"VM.PowerMgmt"}, of: start,
		known: rules{"timeout": number},
	},
	{
		method: "POST", path: atMachine + "/status/stop", privileges: []string{"VM.PowerMgmt"}, of: stop,
		known: rules{"timeout": number, "overrule-shutdown": flagRule},
	},
	{
		method: "POST", path: atMachine + "/status/shutdown", privileges: []string{"VM.PowerMgmt"}, of: shutdown,
		known: rules{"timeout": number, "forceStop": flagRule},
	},
	{method: "GET", path: atMachine + "/snapshot", privileges: []string{"VM.Audit"}, of: listSnapshots},
	{
		method: "POST", path: atMachine + "/snapshot", privileges: []string{"VM.Snapshot"}, of: takeSnapshot,
		known: rules{"snapname": configID, "vmstate": flagRule, "description": nil}, required: []string{"snapname"},
	},
	{
		method: "DELETE", path: atMachine + "/snapshot/:name", privileges: []string{"VM.Snapshot"}, of: dropSnapshot,
		known: rules{"force": flagRule},
	},
	{
		method: "POST", path: atMachine + "/snapshot/:name/rollback", privileges: []string{"VM.Snapshot|VM.Snapshot.Rollback"},
		of: rollBack, known: rules{"start": flagRule},
	},
	{
		method: "DELETE", path: atMachine, privileges: []string{"VM.Allocate"}, of: destroy,
		known: rules{"purge": flagRule, "destroy-unreferenced-disks": flagRule, "skiplock": flagRule},
	},
	{
		method: "GET", path: atMachine + "/agent/network-get-interfaces",
		privileges: []string{"VM.GuestAgent.Audit|VM.GuestAgent.Unrestricted"}, of: agentInterfaces,
	},
	{
		method: "POST", path: atMachine + "/vncproxy", privileges: []string{"VM.Console"}, of: vncProxy,
		known: rules{"websocket": flagRule, "generate-password": flagRule},
	},
}

var firewallCalls = []call{
	{method: "GET", path: atFirewall + "/options", privileges: []string{"VM.Audit"}, of: firewallOptions},
	{
		method: "PUT", path: atFirewall + "/options", privileges: []string{"VM.Config.Network"}, of: setFirewallOptions,
		known: rules{
			"enable": flagRule, "macfilter": flagRule, "dhcp": flagRule, "ndp": flagRule, "radv": flagRule, "ipfilter": flagRule,
			"policy_in": policy, "policy_out": policy,
		},
	},
	{method: "GET", path: atFirewall + "/ipset", privileges: []string{"VM.Audit"}, of: listSets},
	{
		method: "POST", path: atFirewall + "/ipset", privileges: []string{"VM.Config.Network"}, of: addSet,
		known: rules{"name": configID, "comment": nil}, required: []string{"name"},
	},
	{method: "GET", path: atFirewall + "/ipset/:name", privileges: []string{"VM.Audit"}, do: listMembers},
	{
		method: "DELETE", path: atFirewall + "/ipset/:name", privileges: []string{"VM.Config.Network"}, do: dropSet,
		known: rules{"force": flagRule},
	},
	{
		method: "POST", path: atFirewall + "/ipset/:name", privileges: []string{"VM.Config.Network"}, do: addMember,
		known: rules{"cidr": nil, "nomatch": flagRule, "comment": nil}, required: []string{"cidr"},
	},
	{method: "DELETE", path: atFirewall + "/ipset/:name/:cidr", privileges: []string{"VM.Config.Network"}, do: dropMember},
}

// A setting of a machine, with the privilege that it asks for. One that is live counts at
// once while the machine runs; the others wait for its next start.
type setting struct {
	name      *regexp.Regexp
	value     *regexp.Regexp
	privilege string
	live      bool
}

var settings = []setting{
	{pattern(`name`), dnsName, "VM.Config.Options", true},
	{pattern(`description`), nil, "VM.Config.Options", true},
	{pattern(`onboot|protection`), flagRule, "VM.Config.Options", true},
	{pattern(`agent`), nil, "VM.Config.Options", false},
	{pattern(`cores|sockets|vcpus`), pattern(`[1-9]\d*`), "VM.Config.CPU", false},
	{pattern(`memory`), pattern(`(current=)?\d+`), "VM.Config.Memory", false},
	{pattern(`balloon`), number, "VM.Config.Memory", false},
	{
		pattern(`smbios1`),
		pattern(`(uuid=[0-9a-fA-F-]{36}|base64=[01]|(serial|version|manufacturer|product|sku|family)=[A-Za-z0-9+/]+={0,2}|,)*`),
		"VM.Config.HWType", false,
	},
	{
		pattern(`net\d+`), pattern(`((virtio|e1000|vmxnet3)=([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}|bridge=[\w.]+|firewall=[01]|` +
			`tag=\d+|rate=\d+(\.\d+)?|,)*`), "VM.Config.Network", true,
	},
	{
		pattern(`ipconfig\d+`), pattern(`(ip=(dhcp|[\d.]+/\d+)|gw=[\d.]+|ip6=(dhcp|auto|[0-9a-fA-F:]+/\d+)|gw6=[0-9a-fA-F:]+|,)*`),
		"VM.Config.Cloudinit|VM.Config.Network", true,
	},
	{pattern(`sshkeys`), pattern(`[-%a-zA-Z0-9_.!~*'()]+`), "VM.Config.Cloudinit|VM.Config.Network", true},
	{pattern(`ciuser|cipassword|nameserver|searchdomain`), pattern(`.+`), "VM.Config.Cloudinit|VM.Config.Network", true},
	{pattern(`boot`), pattern(`order=\w+(;\w+)*`), "VM.Config.Disk", false},
	{pattern(`(scsi|virtio|sata|ide|unused)\d+`), nil, "", false}, // by what is in the drive
}

func isLive(name string) bool {
	return slices.ContainsFunc(settings, func(s setting) bool { return s.live && s.name.MatchString(name) })
}

func isDrive(name string) bool {
	bus := strings.TrimRight(name, "0123456789")
	return bus != name && slices.Contains([]string{"scsi", "virtio", "sata", "ide"}, bus)
}
