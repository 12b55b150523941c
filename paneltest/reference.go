package paneltest

const ReferencePath = "/api/schema/swagger-ui/"
