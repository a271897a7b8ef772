package slipway_test

import data.slipway

failed(type, runs) := {
	"run": {"type": type, "state": "FAILED"},
	"stack": {"id": "network"},
	"workflow": [{"id": id, "stack_id": stack} | some id, stack in runs],
}

test_tries_once_more if {
	slipway.trigger == {"network"} with input as failed("TRACKED", {"r1": "network"})
	slipway.trigger == {"network"} with input as failed("TRACKED", {"r1": "base", "r2": "network"})
}

test_ends_after_that if {
	count(slipway.trigger) == 0 with input as failed("TRACKED", {"r1": "network", "r2": "network"})
}

test_is_about_deployments if {
	count(slipway.trigger) == 0 with input as failed("PROPOSED", {"r1": "network"})
}
