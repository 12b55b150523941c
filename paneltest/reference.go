package paneltest

import ()

const ReferencePath = "/api/schema/swagger-ui/"
