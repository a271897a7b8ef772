# Nothing that a provider manages is deleted from a production stack, and nothing is replaced in it.
#
# Kind: PLAN
# Adapt: `guarded` says which stacks that is about; `expendable` names types that may go.
package slipway

guarded if "prod" in input.slipway.stack.labels

expendable := {"random:index/randomId:RandomId"}

deny contains msg if {
	guarded
	some step in input.pulumi.steps
	step.op in {"delete", "delete-replaced"}
	step.old.custom
	not step.type in expendable
	msg := sprintf("%s would be deleted", [step.urn])
}
