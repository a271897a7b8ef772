# Resources that can be tagged carry the tags that the organisation needs.
#
# Kind: PLAN
# Tools: Pulumi, Terraform, OpenTofu
# Adapt: `required` names the tags; `tagged` says which types have an input `tags`. A tag whose value is only known after
# the apply counts as there; one whose value is empty does not.
package slipway

required := {"owner", "cost-center"}

tagged := {
	"aws:s3/bucket:Bucket",
	"aws:sqs/queue:Queue",
	"aws:ec2/instance:Instance",
	"aws_s3_bucket",
	"aws_sqs_queue",
	"aws_instance",
}

deny contains msg if {
	some step in input.pulumi.steps
	step.op in {"create", "create-replacement", "update"}
	step.type in tagged
	missing := required - named(object.get(step.new.inputs, "tags", {}))
	count(missing) > 0
	msg := sprintf("%s lacks the tags %s", [step.urn, concat(", ", missing)])
}

deny contains msg if {
	some change in input.terraform.resource_changes
	change.type in tagged
	some action in {"create", "update"}
	action in change.change.actions
	missing := required - named(tags_after(change.change))
	count(missing) > 0
	msg := sprintf("%s lacks the tags %s", [change.address, concat(", ", missing)])
}

# What is only known after the apply is no value in a plan of Terraform, but stands beside it.
tags_after(change) := object.union(known, later) if {
	known := as_object(object.get(change.after, "tags", {}))
	later := as_object(object.get(as_object(object.get(change, "after_unknown", {})), "tags", {}))
}

as_object(value) := value if is_object(value)

as_object(value) := {} if not is_object(value)

named(tags) := {name |
	some name, value in tags
	not value in {"", null}
}
