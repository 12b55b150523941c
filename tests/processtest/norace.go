//go:build system && !race

package processtest

const raceDetector = false
