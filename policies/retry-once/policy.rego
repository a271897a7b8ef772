# A deployment that failed is tried once more.
#
# Kind: TRIGGER
# Adapt: `most` is how often it is tried in all. Runs that policies start after another count as one workflow.
package slipway

most := 2

trigger contains input.stack.id if {
	input.run.type == "TRACKED"
	input.run.state == "FAILED"
	count(tries) < most
}

tries contains run.id if {
	some run in input.workflow
	run.stack_id == input.stack.id
}
