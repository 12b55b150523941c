package paneltest

const TenantOne = "/hosting/api/rest/tenants/1/"
