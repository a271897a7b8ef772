# Only changes below some directories are deployed; all that concerns the stack is previewed.
#
# Kind: PUSH
# Adapt: `deployed` lists how the paths begin. When GitHub gave no whole list of files, the push is deployed.
package slipway

deployed := {"infra/", "modules/network/"}

track if {
	input.event == "push"
	input.push.branch == input.stack.branch
	is_deployed
}

propose if {
	input.push.branch != input.stack.branch
	input.push.affected
}

is_deployed if input.push.affected_files == null

is_deployed if {
	some file in input.push.affected_files
	some beginning in deployed
	startswith(file, beginning)
}
