# Resources that can be tagged carry the tags that the organisation needs.
#
# Kind: PLAN
# Adapt: `required` names the tags; `tagged` says which types have an input `tags`. A tag whose value is only known after
# the apply counts as there; one whose value is empty does not.
package slipway

required := {"owner", "cost-center"}

tagged := {"aws:s3/bucket:Bucket", "aws:sqs/queue:Queue", "aws:ec2/instance:Instance"}

deny contains msg if {
	some step in input.pulumi.steps
	step.op in {"create", "create-replacement", "update"}
	step.type in tagged
	missing := required - tags_of(step.new)
	count(missing) > 0
	msg := sprintf("%s lacks the tags %s", [step.urn, concat(", ", missing)])
}

tags_of(state) := {name |
	some name, value in object.get(state.inputs, "tags", {})
	not value in {"", null}
}
