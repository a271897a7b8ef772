# People are told when a deployment has failed: in the inbox of the account, and below the pull request of the run, if it
# has one.
#
# Kind: NOTIFICATION
# Adapt: `told` lists the states.
package slipway

told := {"FAILED", "STOPPED"}

# What is wrong, in a line.
title := sprintf("%s is %s", [input.run_updated.stack.name, input.run_updated.state]) if {
	input.run_updated.state in told
	input.run_updated.run.type != "PROPOSED"
}

inbox contains {"title": title, "body": input.run_updated.urls.run, "severity": "ERROR"}

pull_request contains comment if {
	number := input.run_updated.run.commit.pull_request_id
	number != null
	comment := {
		"id": number,
		"body": sprintf("%s: %s", [title, input.run_updated.urls.run]),
		"deduplication_key": input.run_updated.stack.id,
	}
}
