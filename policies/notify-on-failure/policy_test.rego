package slipway_test

import data.slipway

updated(type, state, number) := {"run_updated": {
	"state": state,
	"run": {"type": type, "commit": {"pull_request_id": number}},
	"stack": {"id": "network", "name": "Network"},
	"urls": {"run": "https://slipway.example/runs/r1"},
}}

test_tells_of_a_failure if {
	slipway.inbox == {{
		"title": "Network is FAILED",
		"body": "https://slipway.example/runs/r1",
		"severity": "ERROR",
	}} with input as updated("TRACKED", "FAILED", null)
	count(slipway.pull_request) == 0 with input as updated("TRACKED", "FAILED", null)
}

test_comments_on_the_pull_request if {
	some comment in slipway.pull_request with input as updated("TRACKED", "FAILED", 7)
	comment.id == 7
	contains(comment.body, "Network is FAILED")
}

test_is_silent_otherwise if {
	count(slipway.inbox) == 0 with input as updated("TRACKED", "FINISHED", 7)
	count(slipway.inbox) == 0 with input as updated("PROPOSED", "FAILED", 7)
	count(slipway.inbox) == 0 with input as {"other_event": {"message": "x"}}
}
