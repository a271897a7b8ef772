package slipway_test

import data.slipway

after(type, state) := {
	"run": {"type": type, "state": state},
	"stack": {"id": "network"},
	"stacks": [
		{"id": "network", "labels": []},
		{"id": "shop", "labels": ["prod", "depends-on:network"]},
		{"id": "blog", "labels": ["depends-on:network-dev"]},
	],
}

test_triggers_what_depends_on_it if {
	slipway.trigger == {"shop"} with input as after("TRACKED", "FINISHED")
}

test_triggers_nothing_else if {
	count(slipway.trigger) == 0 with input as after("TRACKED", "FAILED")
	count(slipway.trigger) == 0 with input as after("PROPOSED", "FINISHED")
}
