# Written by Slipway: the state of this stack is kept on its server. Paths come with `init -backend-config`.
terraform {
  backend "local" {}
}
