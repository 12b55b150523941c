package css

// Steps is how many tokens are passed to read a style sheet, each time that they are.
func Steps(source string) int {
	_, s := scoped(source)
	return s.passed
}
