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

terraform_plan(change) := {"terraform": {"resource_changes": [{
	"address": "aws_s3_bucket.logs",
	"type": "aws_s3_bucket",
	"change": change,
}]}}

test_lets_resources_of_terraform_with_tags_pass if {
	count(slipway.deny) == 0 with input as terraform_plan({"actions": ["create"], "after": both})
}

test_counts_tags_that_terraform_does_not_know_yet if {
	given := {"actions": ["create"], "after": {"tags": {"owner": "ann"}}, "after_unknown": {"tags": {"cost-center": true}}}
	count(slipway.deny) == 0 with input as terraform_plan(given)
}

test_names_what_is_missing_in_terraform if {
	every after in [{}, {"tags": null}, {"tags": {"owner": ""}}] {
		given := terraform_plan({"actions": ["delete", "create"], "after": after, "after_unknown": {"tags": true}})
		slipway.deny == {"aws_s3_bucket.logs lacks the tags cost-center, owner"} with input as given
	}
}

test_is_about_what_terraform_changes if {
	every actions in [["no-op"], ["delete"], ["read"]] {
		count(slipway.deny) == 0 with input as terraform_plan({"actions": actions, "after": null})
	}
}
