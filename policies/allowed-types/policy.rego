# Only resources of listed types are created.
#
# Kind: PLAN
# Tools: Pulumi, Terraform, OpenTofu
# Adapt: `allowed` lists how types may begin. Components have types of their own and create nothing themselves.
package slipway

allowed := {"aws:s3/", "aws:sqs/", "random:", "pulumi:", "aws_s3_", "aws_sqs_", "random_", "terraform_data"}

deny contains msg if {
	some step in input.pulumi.steps
	step.op in {"create", "create-replacement"}
	step.new.custom
	not is_allowed(step.type)
	msg := sprintf("%s is of type %s, which is not allowed here", [step.urn, step.type])
}

deny contains msg if {
	some change in input.terraform.resource_changes
	change.mode == "managed"
	"create" in change.change.actions
	not is_allowed(change.type)
	msg := sprintf("%s is of type %s, which is not allowed here", [change.address, change.type])
}

is_allowed(type) if {
	some beginning in allowed
	startswith(type, beginning)
}
