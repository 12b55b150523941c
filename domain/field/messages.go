package field

import "fmt"

// NonField is the name under which rules between fields speak.
const NonField = "non_field_errors"

// Messages that need something only a command knows, such as which records
// exist (docs/api.md, "Wire rules").

// NotAChoice says that a text is none of those allowed.
func NotAChoice(input string) string { return fmt.Sprintf("\"%s\" is not a valid choice.", input) }

// NoSuchPK says that a reference leads nowhere the caller may see.
func NoSuchPK(id any) string {
	return fmt.Sprintf("Invalid pk \"%v\" - object does not exist.", id)
}

// AlreadyExists says that another record has the value: "site with this domain
// already exists.".
func AlreadyExists(record, label string) string {
	return fmt.Sprintf("%s with this %s already exists.", record, label)
}

// TooGreat says that a number is over n.
func TooGreat(n any) string {
	return fmt.Sprintf("Ensure this value is less than or equal to %v.", n)
}

// TooSmall says that a number is under n.
func TooSmall(n any) string {
	return fmt.Sprintf("Ensure this value is greater than or equal to %v.", n)
}

// Missing says that a field has to be sent, NotNull that it has to be something.
const (
	Missing = "This field is required."
	NotNull = "This field may not be null."
)

const (
	notChangeable = "This field cannot be changed."
	notInteger    = "A valid integer is required."
	notNumber     = "A valid number is required."
	tooLarge      = "String value too large."
	noNUL         = "Null characters are not allowed."
)

// NoSuchChoice says that a filter names a record that the caller does not see.
const NoSuchChoice = "Select a valid choice. That choice is not one of the available choices."

// NotAmong says that a filter's text is none of those allowed.
func NotAmong(input string) string {
	return fmt.Sprintf("Select a valid choice. %s is not one of the available choices.", input)
}
