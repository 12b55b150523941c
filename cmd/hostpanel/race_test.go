//go:build race

package main

// raceDetector: the program under test is built with it too.
const raceDetector = true
