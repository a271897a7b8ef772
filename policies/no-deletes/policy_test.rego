package slipway_test

import data.slipway

plan(labels, steps) := {"pulumi": {"steps": steps}, "slipway": {"stack": {"labels": labels}}}

step(op, type) := {"op": op, "type": type, "urn": "urn:logs", "old": {"custom": true}}

bucket := "aws:s3/bucket:Bucket"

test_denies_a_delete if {
	slipway.deny == {"urn:logs would be deleted"} with input as plan(["prod"], [step("delete", bucket)])
}

test_denies_a_replacement if {
	count(slipway.deny) == 1 with input as plan(["prod"], [step("delete-replaced", bucket)])
}

test_lets_other_steps_pass if {
	every op in {"same", "refresh", "create", "update", "create-replacement"} {
		count(slipway.deny) == 0 with input as plan(["prod"], [step(op, bucket)])
	}
}

test_lets_other_stacks_pass if {
	count(slipway.deny) == 0 with input as plan(["dev"], [step("delete", bucket)])
}

test_lets_expendable_types_go if {
	count(slipway.deny) == 0 with input as plan(["prod"], [step("delete", "random:index/randomId:RandomId")])
}

test_lets_components_go if {
	component := object.union(step("delete", "shop:Site"), {"old": {"custom": false}})
	count(slipway.deny) == 0 with input as plan(["prod"], [component])
}

terraform_plan(labels, changes) := {
	"terraform": {"resource_changes": changes},
	"slipway": {"stack": {"labels": labels}},
}

change(actions, type) := {
	"address": "module.store.aws_s3_bucket.logs[0]",
	"mode": "managed",
	"type": type,
	"change": {"actions": actions},
}

test_denies_a_delete_by_terraform if {
	given := terraform_plan(["prod"], [change(["delete"], "aws_s3_bucket")])
	slipway.deny == {"module.store.aws_s3_bucket.logs[0] would be deleted"} with input as given
}

test_denies_a_replacement_by_terraform_in_either_order if {
	every actions in [["delete", "create"], ["create", "delete"]] {
		count(slipway.deny) == 1 with input as terraform_plan(["prod"], [change(actions, "aws_s3_bucket")])
	}
}

test_lets_other_actions_of_terraform_pass if {
	every actions in [["no-op"], ["read"], ["create"], ["update"], ["forget"]] {
		count(slipway.deny) == 0 with input as terraform_plan(["prod"], [change(actions, "aws_s3_bucket")])
	}
}

test_lets_other_stacks_of_terraform_pass_and_expendable_types_go if {
	count(slipway.deny) == 0 with input as terraform_plan(["dev"], [change(["delete"], "aws_s3_bucket")])
	count(slipway.deny) == 0 with input as terraform_plan(["prod"], [change(["delete"], "random_id")])
}
