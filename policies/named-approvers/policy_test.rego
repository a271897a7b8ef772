package slipway_test

import data.slipway

run(labels, approvals, rejections) := {
	"run": {"state": "UNCONFIRMED"},
	"stack": {"labels": labels},
	"reviews": {"current": {"approvals": reviews(approvals), "rejections": reviews(rejections)}, "older": []},
}

reviews(authors) := [{"author": author} | some author in authors]

test_approves_by_one_of_the_list if {
	slipway.approve_with_note == {"ann approved it"} with input as run(["prod"], ["ann", "mallory"], [])
}

test_does_not_approve_by_others if {
	count(slipway.approve_with_note) == 0 with input as run(["prod"], ["mallory"], [])
	not slipway.approve with input as run(["prod"], ["mallory"], [])
}

test_rejects_by_one_of_the_list if {
	slipway.reject_with_note == {"bob rejected it"} with input as run(["prod"], ["ann"], ["bob", "mallory"])
}

test_lets_other_stacks_pass if {
	slipway.approve with input as run(["dev"], [], [])
}

test_lets_runs_start_but_no_task if {
	slipway.approve with input as queued("TRACKED")
	not slipway.approve with input as queued("TASK")
	count(slipway.approve_with_note) == 0 with input as queued("TASK")
}

queued(type) := {
	"run": {"type": type, "state": "QUEUED"},
	"stack": {"labels": ["prod"]},
	"reviews": {"current": {"approvals": [], "rejections": []}, "older": []},
}
