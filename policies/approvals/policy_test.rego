package slipway_test

import data.slipway

run(state, approvals, rejections) := {
	"run": {"type": "TRACKED", "state": state, "commit": {"author": "ada"}, "creator_session": {"login": "bob"}},
	"reviews": {"current": {"approvals": reviews(approvals), "rejections": reviews(rejections)}, "older": []},
}

reviews(authors) := [{"author": author} | some author in authors]

test_approves_by_two_others if {
	slipway.approve with input as run("UNCONFIRMED", ["ann", "cy"], [])
}

test_does_not_approve_by_one if {
	not slipway.approve with input as run("UNCONFIRMED", ["ann"], [])
}

test_counts_neither_author_nor_starter if {
	not slipway.approve with input as run("UNCONFIRMED", ["ann", "ada", "bob"], [])
}

test_rejects_by_one if {
	slipway.reject_with_note == {"cy rejected it"} with input as run("UNCONFIRMED", ["ann", "bob"], ["cy"])
}

test_lets_runs_start if {
	slipway.approve with input as run("QUEUED", [], [])
}

test_lets_no_task_start if {
	task := {"type": "TASK", "state": "QUEUED", "commit": {"author": "ada"}, "creator_session": {"login": "bob"}}
	not slipway.approve with input as {"run": task, "reviews": {"current": {"approvals": reviews(["ann"])}}}
	slipway.approve with input as {"run": task, "reviews": {"current": {"approvals": reviews(["ann", "cy"])}}}
}

test_counts_no_machine if {
	token := {"author": "token:1", "session": {"machine": true}}
	person := {"author": "ann", "session": {"machine": false}}
	asked := run("UNCONFIRMED", [], [])
	not slipway.approve with input as asked with input.reviews.current.approvals as [person, token]
}
