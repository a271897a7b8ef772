# What belongs to one application.

variable "image" {
  type = string
}

variable "replicas" {
  type = number
}

resource "terraform_data" "image" {
  input = var.image
}

resource "terraform_data" "replicas" {
  input = var.replicas
}

output "image" {
  value = terraform_data.image.output
}
