import type { PolicyKind } from '../../../../policies/policy.ts';

/** A small policy of each kind that works as it is, to begin from. */
export const starters: Readonly<Record<PolicyKind, string>> = {
  PLAN: `package slipway

# What holds data stays. A denied plan is not applied.
deny contains sprintf("%s would be deleted", [step.urn]) if {
	some step in input.pulumi.steps
	step.op in {"delete", "delete-replaced"}
	startswith(step.type, "aws:s3/")
}

# The same of stacks of Terraform and OpenTofu.
deny contains sprintf("%s would be deleted", [resource.address]) if {
	some resource in input.terraform.resource_changes
	"delete" in resource.change.actions
	startswith(resource.type, "aws_s3_")
}

# A warning lets people look twice: what is applied by itself otherwise then waits for them.
warn contains sprintf("%d resources change at once", [count(changing)]) if count(changing) > 20

changing := array.concat(
	[step.urn | some step in input.pulumi.steps; not step.op in {"same", "refresh"}],
	[resource.address |
		some resource in input.terraform.resource_changes
		not resource.change.actions in {["no-op"], ["read"]}
	],
)
`,
  PUSH: `package slipway

# The tracked branch is deployed, every other branch and pull request is previewed.
track if {
	is_wanted
	input.event == "push"
	input.push.branch == input.stack.branch
}

propose if {
	is_wanted
	not track
}

# Changes of documentation alone start nothing.
is_wanted if {
	input.push.affected
	not only_documentation
}

only_documentation if {
	# It is null when GitHub gave no whole list.
	is_array(input.push.affected_files)
	count(input.push.affected_files) > 0
	every file in input.push.affected_files {
		endswith(file, ".md")
	}
}
`,
  APPROVAL: `package slipway

# Runs start by themselves, and previews end by themselves: only what is to be applied waits, and tasks before they begin.
approve if {
	input.run.state != "UNCONFIRMED"
	not is_task
}

is_task if input.run.type == "TASK"

# Somebody has to approve who did not start the run: a person, as nobody knows whose a token is.
approve if {
	some review in input.reviews.current.approvals
	not review.session.machine
	review.session.login != input.run.creator_session.login
}

# One rejection ends it.
reject_with_note contains sprintf("%s rejected it", [review.author]) if {
	some review in input.reviews.current.rejections
}
`,
  TRIGGER: `package slipway

# Once it is deployed, the stacks with the label "after:<id of this stack>" are, too.
trigger contains stack.id if {
	input.run.type == "TRACKED"
	input.run.state == "FINISHED"
	some stack in input.stacks
	sprintf("after:%s", [input.stack.id]) in stack.labels
}
`,
  NOTIFICATION: `package slipway

# A message in the inbox when a deployment fails.
inbox contains message if {
	input.run_updated.run.type == "TRACKED"
	input.run_updated.state == "FAILED"
	message := {
		"title": sprintf("%s failed", [input.run_updated.stack.name]),
		"body": input.run_updated.urls.run,
		"severity": "ERROR",
	}
}
`,
  LOGIN: `package slipway

# Whoever may see a repository that the App is installed on may log in. Administrators that the server names always may.
allow if input.session.member
`,
};
