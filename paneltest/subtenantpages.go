package paneltest

const SubTenantPages = "/panel/sub-tenants/"
