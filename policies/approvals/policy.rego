# A deployment, or a task, needs so many approvals of others than those who made it. One rejection ends it.
#
# Kind: APPROVAL
# Adapt: `required` is how many.
package slipway

required := 2

# Only what is to be applied waits for people: not the start of a run, and not a preview.
approve if {
	input.run.state != "UNCONFIRMED"
	not is_task
}

# It has no plan to wait with, and its command can do all that a deployment does.
is_task if input.run.type == "TASK"

approve if count(others) >= required

reject_with_note contains sprintf("%s rejected it", [review.author]) if {
	some review in input.reviews.current.rejections
}

# Nor do tokens count: whoever has one could be a second person with it.
others contains review.author if {
	some review in input.reviews.current.approvals
	not review.session.machine
	not review.author in makers
}

# Nobody approves what is their own: not the commit, and not the run.
makers := {input.run.commit.author, input.run.creator_session.login}
