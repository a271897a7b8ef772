"""What Schemathesis itself cannot know: which refusals of well-formed requests are right."""

import schemathesis

# Rules that JSON Schema cannot say, by the path that the problem names, or its first part.
UNSAYABLE = {
    "additionalProjectGlobs": "braces, classes and segments of a glob must fit together",
    "name": "must have a letter or a digit once accents are taken off",
    "headers": "reserved names in any case, the same name twice, the value that stands for hidden ones",
    "secret": "bytes, not characters, are counted",
    "value": "bytes, not characters, are counted",
    "expiresAt": "must be in the future",
    "until": "must not be before `since`",
    "account": "the App must be installed there",
    "kind": "a policy stays of the kind that it is of",
    "vendor.terraform.backendConfigFile": "state kept by Slipway goes with no backend configuration file",
    "vendor.opentofu.backendConfigFile": "state kept by Slipway goes with no backend configuration file",
    "": "of input, sample and run one is to be given",
}


@schemathesis.check
def well_formed_input_is_not_invalid(ctx, response, case):
    """A request that fits the document may be refused for what it wants, but not as `invalid-input`."""
    if response.status_code != 422 or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    problem = response.json()
    if problem["code"] != "invalid-input":
        return
    paths = [error["path"] for error in problem.get("errors", [])]
    unknown = [path for path in paths if not {path, path.split(".")[0]} & UNSAYABLE.keys()]
    if unknown or not paths:
        raise AssertionError(f"{case.operation.label} refuses what the document allows: {problem}")
