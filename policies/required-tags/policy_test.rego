package slipway_test

import data.slipway

plan(op, inputs) := {"pulumi": {"steps": [{
	"op": op,
	"type": "aws:s3/bucket:Bucket",
	"urn": "urn:logs",
	"new": {"inputs": inputs},
}]}}

both := {"tags": {"owner": "ann", "cost-center": "42"}}

test_lets_tagged_resources_pass if {
	count(slipway.deny) == 0 with input as plan("create", both)
}

test_names_what_is_missing if {
	slipway.deny == {"urn:logs lacks the tags cost-center, owner"} with input as plan("create", {})
	slipway.deny == {"urn:logs lacks the tags cost-center"} with input as plan("update", {"tags": {"owner": "ann"}})
	slipway.deny == {"urn:logs lacks the tags owner"} with input as plan("update", {"tags": {"owner": "", "cost-center": "4"}})
}

test_is_about_what_changes if {
	count(slipway.deny) == 0 with input as plan("same", {})
}

test_is_about_listed_types if {
	other := {"pulumi": {"steps": [{"op": "create", "type": "random:index/randomId:RandomId", "urn": "u", "new": {"inputs": {}}}]}}
	count(slipway.deny) == 0 with input as other
}
