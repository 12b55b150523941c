package hosting

import (
	"strings"
)

// Kinds are all the kinds of hosting resources, in the order in which clients
// see them. To add one, write its row and its Spec in a file of its own and name
// it here (CONTRIBUTING.md, "A hosting kind").
var Kinds = []Kind{
	tenants,
	sites,
	databases,
	dnsZones,
	dnsRecords,
	mailDomains,
	mailboxes,
	mailAliases,
	ftpAccounts,
	shellUsers,
	cronJobs,
	certificates,
	packages,
	whiteLabels,
	proxies,
	machines,
	machineSnapshots,
	nodes,
	addressPools,
}

// siteDomain is how the parts of a site show which one it is.
var siteDomain = []Name{{Field: "site_domain", Of: "site", Shows: "domain"}}

func words(text string) []string { return strings.Fields(text) }
