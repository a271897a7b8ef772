package slipway_test

import data.slipway

step(op, type) := {"op": op, "type": type, "urn": "urn:it", "new": {"custom": true}}

plan(step) := {"pulumi": {"steps": [step]}}

test_denies_another_type if {
	slipway.deny == {"urn:it is of type aws:iam/user:User, which is not allowed here"} with input as plan(step("create", "aws:iam/user:User"))
}

test_denies_it_in_a_replacement if {
	count(slipway.deny) == 1 with input as plan(step("create-replacement", "aws:iam/user:User"))
}

test_lets_a_listed_type_pass if {
	count(slipway.deny) == 0 with input as plan(step("create", "aws:s3/bucket:Bucket"))
}

test_lets_what_is_there_be_changed if {
	count(slipway.deny) == 0 with input as plan(step("update", "aws:iam/user:User"))
}

test_lets_components_pass if {
	component := {"op": "create", "type": "shop:Site", "urn": "urn:site", "new": {"custom": false}}
	count(slipway.deny) == 0 with input as plan(component)
}

terraform_plan(actions, type) := {"terraform": {"resource_changes": [{
	"address": "aws.it",
	"mode": "managed",
	"type": type,
	"change": {"actions": actions},
}]}}

test_denies_another_type_of_terraform if {
	slipway.deny == {"aws.it is of type aws_iam_user, which is not allowed here"} with input as terraform_plan(["create"], "aws_iam_user")
	count(slipway.deny) == 1 with input as terraform_plan(["delete", "create"], "aws_iam_user")
}

test_lets_a_listed_type_of_terraform_pass if {
	count(slipway.deny) == 0 with input as terraform_plan(["create"], "aws_s3_bucket")
}

test_lets_what_terraform_knows_be_changed_and_read if {
	count(slipway.deny) == 0 with input as terraform_plan(["update"], "aws_iam_user")
	read := {"terraform": {"resource_changes": [{"address": "data.a.b", "mode": "data", "type": "aws_iam_user", "change": {"actions": ["read"]}}]}}
	count(slipway.deny) == 0 with input as read
}
