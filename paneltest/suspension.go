package paneltest

import ()

const TenantOne = "/hosting/api/rest/tenants/1/"
