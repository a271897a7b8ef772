# Nothing is deployed at weekends, nor on other days outside of working hours. Previews go on.
#
# Kind: PLAN
# Adapt: `zone` is a name of the time zone database, `first_hour` and `last_hour` are hours of the day there. Write
# `warn` for `deny` to make such deployments wait for a confirmation instead. A `retry` during working hours passes.
package slipway

zone := "Europe/Berlin"

first_hour := 8

last_hour := 17

# Policies have no clock of their own: this is when the plan is judged.
now := [input.slipway.request.timestamp_ns, zone]

deny contains msg if {
	input.slipway.run.type != "PROPOSED"
	some msg in frozen
}

frozen contains sprintf("nothing is deployed on a %s", [day]) if {
	day := time.weekday(now)
	day in {"Saturday", "Sunday"}
}

frozen contains sprintf("nothing is deployed at %d o'clock, only from %d to %d", [hour, first_hour, last_hour]) if {
	[hour, _, _] := time.clock(now)
	not is_open(hour)
}

is_open(hour) if {
	hour >= first_hour
	hour < last_hour
}
