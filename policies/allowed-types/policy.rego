# Only resources of listed types are created.
#
# Kind: PLAN
# Adapt: `allowed` lists how types may begin. Components have types of their own and create nothing themselves.
package slipway

allowed := {"aws:s3/", "aws:sqs/", "random:", "pulumi:"}

deny contains msg if {
	some step in input.pulumi.steps
	step.op in {"create", "create-replacement"}
	step.new.custom
	not is_allowed(step.type)
	msg := sprintf("%s is of type %s, which is not allowed here", [step.urn, step.type])
}

is_allowed(type) if {
	some beginning in allowed
	startswith(type, beginning)
}
