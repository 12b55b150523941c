package projections

// All are the read tables of the program.
var All = Set{users, orders, names, resources, subscriptions}
