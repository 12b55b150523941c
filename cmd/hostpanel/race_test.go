//go:build race

package main

// raceDetector: the program that serves is built with it too.
const raceDetector = true
