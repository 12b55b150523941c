package paneltest

import ()

const WidgetOne, WidgetTwo = "browserbrowser01", "browserbrowser02"
