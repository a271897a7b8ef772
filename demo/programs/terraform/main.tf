# The same world as the program in YAML: terraform_data is built into Terraform and OpenTofu, so nothing is downloaded.
# What to try: another image (an update), another engine (a replacement), one resource less (a deletion).

terraform {
  required_version = ">= 1.6"
}

# Shown as [secret] in plans, policies and logs. The state keeps it in clear, as Terraform does.
variable "api_token" {
  type      = string
  sensitive = true
  default   = "demo-token-27f4ce"
}

resource "terraform_data" "network" {
  input = { cidr = "10.70.0.0/16" }
}

resource "terraform_data" "api_token" {
  input = var.api_token
}

resource "terraform_data" "database" {
  input            = { network = terraform_data.network.output.cidr }
  triggers_replace = "postgres-17"
}

module "shop" {
  source   = "./service"
  image    = "registry.example.com/shop:1.0.0"
  replicas = 2
}

output "database" {
  value = terraform_data.database.id
}

output "service" {
  value = module.shop.image
}

output "api_token" {
  value     = var.api_token
  sensitive = true
}
