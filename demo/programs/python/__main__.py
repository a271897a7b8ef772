"""The same world as the program in JavaScript: values kept in the state (Stash), a component, and a resource whose
provider is written here and keeps its objects as files. Pulumi stores the provider, pickled, in the state."""

import json
import os
from pathlib import Path
from urllib.parse import urlparse

import pulumi
from pulumi import dynamic


def file_of(id_: str) -> Path:
    """Beside the state: there it survives the run, and a preview works on a copy of both."""
    return Path(urlparse(os.environ["PULUMI_BACKEND_URL"]).path, "subnets-python", f"{id_}.json")


class SubnetProvider(dynamic.ResourceProvider):
    """Hands out a subnet of a /16 by number; another number is another subnet, so a replacement."""

    def create(self, props):
        number = int(props["number"])
        if number > 255:
            raise ValueError(f"there is no subnet {number} in {props['network']}")
        cidr = props["network"].removesuffix(".0.0/16") + f".{number}.0/24"
        path = file_of(f"subnet-{number}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"cidr": cidr, "label": props["label"]}))
        return dynamic.CreateResult(f"subnet-{number}", {**props, "cidr": cidr})

    def read(self, id_, props):
        """What somebody changed by hand is found by the next refresh; no id says that it is gone."""
        path = file_of(id_)
        if not path.exists():
            return dynamic.ReadResult(None, {})
        return dynamic.ReadResult(id_, {**props, **json.loads(path.read_text())})

    def diff(self, _id, olds, news):
        moved = olds["network"] != news["network"] or olds["number"] != news["number"]
        renamed = olds["label"] != news["label"]
        return dynamic.DiffResult(changes=moved or renamed, replaces=["number"] if moved else [])

    def update(self, id_, olds, news):
        file_of(id_).write_text(json.dumps({"cidr": olds["cidr"], "label": news["label"]}))
        return dynamic.UpdateResult({**news, "cidr": olds["cidr"]})

    def delete(self, id_, _props):
        file_of(id_).unlink(missing_ok=True)


class Subnet(dynamic.Resource):
    cidr: pulumi.Output[str]

    def __init__(self, name, network, number, label, opts=None):
        inputs = {"network": network, "number": number, "label": label, "cidr": None}
        super().__init__(SubnetProvider(), name, inputs, opts)


class Service(pulumi.ComponentResource):
    """What belongs to one application, as one resource with children."""

    def __init__(self, name, image, replicas):
        super().__init__("demo:index:Service", name)
        child = pulumi.ResourceOptions(parent=self)
        self.image = pulumi.Stash(f"{name}-image", input=image, opts=child).input
        pulumi.Stash(f"{name}-replicas", input=replicas, opts=child)
        self.register_outputs({"image": self.image})


network = pulumi.Stash("network", input={"cidr": "10.50.0.0/16"})
cidr = network.input.apply(lambda value: value["cidr"])
token = pulumi.Stash("api-token", input=pulumi.Output.secret("demo-token-61c3f0"))
shop = Service("shop", image="registry.example.com/shop:1.0.0", replicas=2)
blue = Subnet("blue", network=cidr, number=1, label="blue")
green = Subnet("green", network=cidr, number=2, label="green", opts=pulumi.ResourceOptions(depends_on=shop))

pulumi.export("subnets", [blue.cidr, green.cidr])
pulumi.export("service", shop.image)
pulumi.export("api_token", token.input)
