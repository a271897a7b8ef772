# Stacks that depend on another one are deployed after it. A stack says so by labels: "depends-on:network" waits for the
# stack with the id "network".
#
# Kind: TRIGGER
# Adapt: attach it to all stacks, by the label `autoattach:*`. A stack that depends on several is deployed after each.
package slipway

trigger contains dependent.id if {
	input.run.type == "TRACKED"
	input.run.state == "FINISHED"
	some dependent in input.stacks
	sprintf("depends-on:%s", [input.stack.id]) in dependent.labels
}
