// The world of the program in YAML, in Go: values kept in the state (Stash), a component, a secret. Dynamic providers
// are not to be had in Go. What to try: another image (an update), another engine (a replacement).
package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Service is what belongs to one application, as one resource with children.
type Service struct {
	pulumi.ResourceState
	Image pulumi.AnyOutput
}

func newService(ctx *pulumi.Context, name, image string, replicas int) (*Service, error) {
	service := &Service{}
	if err := ctx.RegisterComponentResource("demo:index:Service", name, service); err != nil {
		return nil, err
	}
	kept, err := pulumi.NewStash(ctx, name+"-image", &pulumi.StashArgs{Input: pulumi.String(image)}, pulumi.Parent(service))
	if err != nil {
		return nil, err
	}
	service.Image = kept.Input
	count := &pulumi.StashArgs{Input: pulumi.Int(replicas)}
	if _, err := pulumi.NewStash(ctx, name+"-replicas", count, pulumi.Parent(service)); err != nil {
		return nil, err
	}
	return service, ctx.RegisterResourceOutputs(service, pulumi.Map{"image": service.Image})
}

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		network, err := pulumi.NewStash(ctx, "network", &pulumi.StashArgs{
			Input: pulumi.Map{"cidr": pulumi.String("10.60.0.0/16")},
		})
		if err != nil {
			return err
		}
		token, err := pulumi.NewStash(ctx, "api-token", &pulumi.StashArgs{
			Input: pulumi.ToSecret(pulumi.String("demo-token-b5520e")),
		})
		if err != nil {
			return err
		}
		database, err := pulumi.NewStash(ctx, "database", &pulumi.StashArgs{
			Input: pulumi.Map{"engine": pulumi.String("postgres-17"), "network": network.Input, "token": token.Input},
		}, pulumi.ReplaceOnChanges([]string{"input"}))
		if err != nil {
			return err
		}
		shop, err := newService(ctx, "shop", "registry.example.com/shop:1.0.0", 2)
		if err != nil {
			return err
		}
		ctx.Export("database", database.ID())
		ctx.Export("service", shop.Image)
		ctx.Export("apiToken", token.Input)
		return nil
	})
}
