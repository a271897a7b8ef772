package slipway_test

import data.slipway

push(branch, files) := {
	"event": "push",
	"push": {"branch": branch, "affected_files": files, "affected": true},
	"stack": {"branch": "main"},
}

test_deploys_what_is_below if {
	slipway.track with input as push("main", ["README.md", "infra/main.ts"])
}

test_deploys_nothing_else if {
	not slipway.track with input as push("main", ["README.md", "infrastructure/main.ts"])
}

test_deploys_when_the_files_are_not_known if {
	slipway.track with input as push("main", null)
}

test_previews_other_branches if {
	slipway.propose with input as push("topic", ["README.md"])
	not slipway.track with input as push("topic", ["infra/main.ts"])
}
