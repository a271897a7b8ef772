//go:build tools

// Package tools names the program this module exists for, so that `go mod tidy` keeps its requirement.
package tools

import _ "github.com/terraform-providers/terraform-provider-local"
