package slipway_test

import data.slipway

person(accounts, teams) := {"session": {"login": "ann"}, "accounts": accounts, "teams": teams}

test_allows_members if {
	slipway.allow with input as person(["acme"], [])
	not slipway.admin with input as person(["acme"], [])
}

test_allows_nobody_else if {
	not slipway.allow with input as person(["other"], ["other/platform"])
	not slipway.admin with input as person(["other"], ["other/platform"])
}

test_goes_by_teams if {
	slipway.admin with input as person(["acme"], ["acme/platform"])
	slipway.roles == {"acme": {"writer"}} with input as person(["acme"], ["acme/developers"])
}

test_gives_nothing_when_teams_are_not_known if {
	slipway.allow with input as person(["acme"], null)
	not slipway.admin with input as person(["acme"], null)
	slipway.roles == {} with input as person(["acme"], null)
}
