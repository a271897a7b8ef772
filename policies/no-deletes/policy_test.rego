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
