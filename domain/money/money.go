// Package money is the arithmetic of prices: exact decimals for what people
// read, integers of the smallest unit for what payment providers are told
// (docs/orders.md, "Money").
package money

import "github.com/shopspring/decimal"

// hundred turns a percentage into a share; a year costs twelve months at 20
// percent off.
var hundred, yearFactor = decimal.New(100, 0), decimal.RequireFromString("9.6")
