# Branches are previewed as pull requests only: a push to another than the tracked branch starts nothing until there is
# a pull request for it. Pushes to the tracked branch are deployed.
#
# Kind: PUSH
# Adapt: drafts and forks are left out; take that away if they shall be previewed.
package slipway

track if {
	input.event == "push"
	input.push.branch == input.stack.branch
	input.push.affected
}

propose if {
	input.pull_request.base.branch == input.stack.branch
	input.push.affected
	not input.pull_request.draft
	not input.pull_request.fork
	not input.pull_request.closed
}
