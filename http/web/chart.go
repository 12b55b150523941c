package web

// A Chart has two bars for each day: what came in and what went back. A page draws
// it as SVG without a style of its own, with a table beside it.
type Chart struct {
	Width, Height int
	Bars          []bar
}

// A ChartDay is what a day amounts to.
type ChartDay struct{ In, Out int64 }

type bar struct {
	X, Y, Width, Height int
	IsBack              bool
}

const (
	chartStep   = 20 // of a day
	chartBar    = 7
	chartHeight = 120
)

// DrawChart makes the highest bar as high as the chart. A day below zero has none.
func DrawChart(days []ChartDay) Chart {
	c := Chart{Width: chartStep * len(days), Height: chartHeight}
	most := int64(1)
	for _, d := range days {
		most = max(most, d.In, d.Out)
	}
	for i, d := range days {
		c.add(chartStep*i+chartStep/2-chartBar-1, d.In, most, false)
		c.add(chartStep*i+chartStep/2+1, d.Out, most, true)
	}
	return c
}

func (c *Chart) add(x int, amount, most int64, isBack bool) {
	if amount <= 0 {
		return
	}
	height := max(2, int(float64(amount)/float64(most)*chartHeight))
	c.Bars = append(c.Bars, bar{X: x, Y: chartHeight - height, Width: chartBar, Height: height, IsBack: isBack})
}
