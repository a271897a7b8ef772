# Nothing that a provider manages is deleted from a production stack, and nothing is replaced in it.
#
# Kind: PLAN
# Tools: Pulumi, Terraform, OpenTofu
# Adapt: `guarded` says which stacks that is about; `expendable` names types that may go.
package slipway

guarded if "prod" in input.slipway.stack.labels

expendable := {"random:index/randomId:RandomId", "random_id"}

deny contains msg if {
	guarded
	some step in input.pulumi.steps
	step.op in {"delete", "delete-replaced"}
	step.old.custom
	not step.type in expendable
	msg := sprintf("%s would be deleted", [step.urn])
}

deny contains msg if {
	guarded
	some change in input.terraform.resource_changes
	change.mode == "managed"
	"delete" in change.change.actions
	not change.type in expendable
	msg := sprintf("%s would be deleted", [change.address])
}
