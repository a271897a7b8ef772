# Who may see a repository of the organisation may log in. Members of one team administrate, and of another one may
# write in all stacks of the organisation.
#
# Kind: LOGIN
# Adapt: put the logins of the organisation and of its teams, in lower case. Who is named in the setting ADMINS is let in
# whatever policies say.
package slipway

organisation := "acme"

administrators := "acme/platform"

writers := "acme/developers"

allow if organisation in input.accounts

# `teams` is null when GitHub does not tell: then nobody is in any.
admin if administrators in input.teams

roles[organisation] contains "writer" if writers in input.teams
