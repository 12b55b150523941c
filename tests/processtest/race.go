//go:build system && race

package processtest

// raceDetector: the program that serves is built with it too.
const raceDetector = true
