# Runs of production stacks are approved by one of a list of people.
#
# Kind: APPROVAL
# Adapt: `people` are GitHub logins in lower case; `guarded` says which stacks that is about.
package slipway

people := {"ann", "bob"}

guarded if "prod" in input.stack.labels

approve if not guarded

approve if {
	input.run.state == "QUEUED"
	not is_task
}

# It has no plan to wait with, and its command can do all that a deployment does.
is_task if input.run.type == "TASK"

approve_with_note contains sprintf("%s approved it", [review.author]) if {
	some review in input.reviews.current.approvals
	review.author in people
}

reject_with_note contains sprintf("%s rejected it", [review.author]) if {
	some review in input.reviews.current.rejections
	review.author in people
}
