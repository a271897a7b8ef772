package slipway_test

import data.slipway

plan(type, moment) := {"slipway": {
	"run": {"type": type},
	"request": {"timestamp_ns": time.parse_rfc3339_ns(moment)},
}}

test_lets_a_deployment_in_working_hours_pass if {
	count(slipway.deny) == 0 with input as plan("TRACKED", "2026-11-18T07:00:00Z")
	count(slipway.deny) == 0 with input as plan("TRACKED", "2026-11-18T15:59:59Z")
}

test_denies_one_too_early_or_too_late if {
	count(slipway.deny) == 1 with input as plan("TRACKED", "2026-11-18T06:59:59Z")
	count(slipway.deny) == 1 with input as plan("TRACKED", "2026-11-18T16:00:00Z")
}

# Berlin is two hours ahead in summer.
test_knows_summer_time if {
	count(slipway.deny) == 0 with input as plan("TRACKED", "2026-07-15T06:00:00Z")
	count(slipway.deny) == 1 with input as plan("TRACKED", "2026-07-15T15:00:00Z")
}

test_denies_one_at_the_weekend if {
	slipway.deny == {"nothing is deployed on a Saturday"} with input as plan("TRACKED", "2026-11-21T10:00:00Z")
}

test_lets_previews_pass if {
	count(slipway.deny) == 0 with input as plan("PROPOSED", "2026-11-21T23:00:00Z")
}
