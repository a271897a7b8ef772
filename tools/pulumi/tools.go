//go:build tools

// Package tools names the programs this module exists for, so that `go mod tidy` keeps their requirements.
package tools

import (
	_ "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"
	_ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
)
