package paneltest

import ()

const SubTenantPages = "/panel/sub-tenants/"
