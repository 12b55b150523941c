package projections

// All are the read tables of the program, a file each.
var All = Set{plans, widgets, apiKeys, users, orders, names, resources, subscriptions, notifications}
