package domain

// PanelPath is where customers begin in a browser. What has no page of its own leads there.
const PanelPath = "/panel/"
