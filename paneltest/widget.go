package paneltest

const WidgetOne, WidgetTwo = "browserbrowser01", "browserbrowser02"
