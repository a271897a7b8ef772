package slipway_test

import data.slipway

push(branch, affected) := {
	"event": "push",
	"push": {"branch": branch, "affected": affected},
	"pull_request": null,
	"stack": {"branch": "main"},
}

pull_request(change) := {
	"event": "pull_request",
	"push": {"branch": "topic", "affected": true},
	"pull_request": object.union({"base": {"branch": "main"}, "draft": false, "fork": false, "closed": false}, change),
	"stack": {"branch": "main"},
}

test_deploys_the_tracked_branch if {
	slipway.track with input as push("main", true)
}

test_leaves_out_what_concerns_others if {
	not slipway.track with input as push("main", false)
}

test_starts_nothing_for_other_branches if {
	not slipway.track with input as push("topic", true)
	not slipway.propose with input as push("topic", true)
}

test_previews_pull_requests if {
	slipway.propose with input as pull_request({})
	not slipway.track with input as pull_request({})
}

test_leaves_out_other_pull_requests if {
	every change in [{"draft": true}, {"fork": true}, {"closed": true}, {"base": {"branch": "v1"}}] {
		not slipway.propose with input as pull_request(change)
	}
}
