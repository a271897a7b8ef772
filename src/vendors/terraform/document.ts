import { secretText } from '../../runs/plan/plan-value.ts';
import { keyIn, keyOf } from './configuration.ts';
import { checkDepth, fieldOf, isTree, mapTree, maskValue, type Tree, unionOfMasks } from './masks.ts';
import type { PlanJson } from './plan-json.ts';
import { createHider, createSensitiveValues, hideIn } from './sensitive-values.ts';

/** A plan in JSON without its secrets, and those. */
export interface MaskedPlan {
  readonly document: unknown;
  readonly secrets: readonly string[];
}

/** `raw` is what `plan` was checked from: nothing that Slipway does not know is lost. Throws TooDeepError. */
export function maskPlan(raw: unknown, plan: PlanJson): MaskedPlan {
  const known = createSensitiveValues();
  const onSecret = (secret: unknown) => known.add(secret);
  const rootModule = fieldOf(plan.configuration, 'root_module');
  const sensitive = sensitiveAttributes(plan);
  const masked = !isTree(raw)
    ? raw
    : mapTree(raw, (value, key) => {
        if (key === 'variables') return maskVariables(value, fieldOf(rootModule, 'variables'), onSecret);
        if (key !== 'configuration') return maskSiblings(value, onSecret, 1);
        return mapField(value, 'root_module', (module) => maskModule(module, [], sensitive, onSecret));
      });
  const secrets = known.list();
  const hide = createHider(secrets);
  return { document: secrets.length === 0 ? masked : hideOutsideOfStructure(masked, hide, '', 0), secrets };
}

type OnSecret = (secret: unknown) => void;

/** In states, changes of resources and of outputs, and calls of actions: what stands beside its mask. */
const maskOf: ReadonlyMap<string, string> = new Map([
  ['values', 'sensitive_values'],
  ['before', 'before_sensitive'],
  ['after', 'after_sensitive'],
  ['config_values', 'config_sensitive'],
  // Outputs of a state.
  ['value', 'sensitive'],
]);

function maskSiblings(node: unknown, onSecret: OnSecret, depth: number): unknown {
  checkDepth(depth);
  if (Array.isArray(node)) return node.map((item) => maskSiblings(item, onSecret, depth + 1));
  if (!isTree(node)) return node;
  return mapTree(node, (value, key) => {
    const mask = maskOf.get(key);
    if (mask === undefined || !Object.hasOwn(node, mask)) return maskSiblings(value, onSecret, depth + 1);
    return maskValue(value, node[mask], onSecret, depth);
  });
}

/** They have no mask of their own; their declaration says it. */
function maskVariables(variables: unknown, declarations: unknown, onSecret: OnSecret): unknown {
  if (!isTree(variables)) return variables;
  return mapTree(variables, (variable, name) =>
    isSensitive(fieldOf(declarations, name)) ? maskField(variable, 'value', onSecret) : variable,
  );
}

const isSensitive = (declaration: unknown) => fieldOf(declaration, 'sensitive') === true;

/** By the key of the declaration: what the schema or a value made secret in any instance, before or after. */
function sensitiveAttributes({ resource_changes, resource_drift }: PlanJson): ReadonlyMap<string, unknown> {
  const masks = new Map<string, unknown>();
  for (const resource of [...(resource_changes ?? []), ...(resource_drift ?? [])]) {
    const { before_sensitive, after_sensitive } = resource.change;
    const key = keyOf(resource);
    masks.set(key, unionOfMasks(masks.get(key), unionOfMasks(before_sensitive, after_sensitive)));
  }
  return masks;
}

/** Constants in the program's text: defaults, arguments of modules and attributes of resources that are secret. */
function maskModule(
  module: unknown,
  path: readonly string[],
  sensitive: ReadonlyMap<string, unknown>,
  onSecret: OnSecret,
): unknown {
  checkDepth(path.length);
  if (!isTree(module)) return module;
  return mapTree(module, (part, key) => {
    if (key === 'variables') {
      return mapEach(part, (variable) =>
        isSensitive(variable) ? maskField(variable, 'default', onSecret) : variable,
      );
    }
    if (key === 'outputs') {
      return mapEach(part, (output) =>
        isSensitive(output)
          ? mapField(output, 'expression', (expression) => maskConstants(expression, true, onSecret))
          : output,
      );
    }
    if (key === 'resources' && Array.isArray(part)) {
      return part.map((resource) => {
        const [mode, type, name] = ['mode', 'type', 'name'].map((field) => fieldOf(resource, field));
        const mask = sensitive.get(keyIn(path, mode, type, name));
        return mapField(resource, 'expressions', (all) => maskConstants(all, mask, onSecret));
      });
    }
    if (key !== 'module_calls') return part;
    return mapEach(part, (call, name) => {
      const inner = mapField(call, 'module', (each) =>
        maskModule(each, [...path, name], sensitive, onSecret),
      );
      const declarations = fieldOf(fieldOf(call, 'module'), 'variables');
      return mapField(inner, 'expressions', (all) =>
        mapEach(all, (expression, variable) =>
          isSensitive(fieldOf(declarations, variable))
            ? maskConstants(expression, true, onSecret)
            : expression,
        ),
      );
    });
  });
}

/** An expression has a constant, or references; a block is a list (or an object) of what has expressions. */
function maskConstants(expression: unknown, mask: unknown, onSecret: OnSecret, depth = 0): unknown {
  checkDepth(depth);
  if (Array.isArray(expression)) {
    // Instances of a block are not in the order of its expressions when some are dynamic.
    const each = Array.isArray(mask) ? mask.reduce((one, other) => unionOfMasks(one, other), false) : mask;
    return expression.map((item) => maskConstants(item, each, onSecret, depth + 1));
  }
  if (!isTree(expression)) return expression;
  return mapTree(expression, (value, key) => {
    if (key === 'constant_value') return maskValue(value, mask, onSecret);
    return maskConstants(value, mask === true ? true : blockMask(mask, key), onSecret, depth + 1);
  });
}

const blockMask = (mask: unknown, key: string): unknown =>
  Array.isArray(mask)
    ? mask.map((each) => fieldOf(each, key)).reduce((one, other) => unionOfMasks(one, other), false)
    : fieldOf(mask, key);

function maskField(node: unknown, name: string, onSecret: OnSecret): unknown {
  return mapField(node, name, (value) => {
    onSecret(value);
    return secretText;
  });
}

function mapField(node: unknown, name: string, change: (value: unknown) => unknown): unknown {
  return isTree(node) ? mapTree(node, (value, key) => (key === name ? change(value) : value)) : node;
}

const mapEach = (node: unknown, change: (value: unknown, key: string) => unknown): unknown =>
  isTree(node) ? mapTree(node as Tree, change) : node;

/** Below these stands data of the program; elsewhere keys are words of the format, and names. */
const data: ReadonlySet<string> = new Set([
  'values',
  'before',
  'after',
  'value',
  'default',
  'constant_value',
]);

/**
 * What a policy goes by, and what a person names a resource by: a variable that is marked as secret, with the value
 * "aws_", must not make a resource of that type unrecognisable.
 */
const structure: ReadonlySet<string> = new Set([
  ...['address', 'module_address', 'previous_address', 'mode', 'type', 'name', 'provider_name', 'full_name'],
  ...['actions', 'action_reason', 'provider_config_key', 'deposed', 'resource', 'attribute', 'references'],
  ...['format_version', 'terraform_version', 'timestamp', 'source', 'version_constraint', 'kind', 'status'],
  ...['replace_paths', 'to_display', 'module', 'instance_key'],
]);

function hideOutsideOfStructure(
  node: unknown,
  hide: (text: string) => string,
  under: string,
  depth: number,
): unknown {
  checkDepth(depth);
  if (data.has(under)) return hideIn(node, hide, depth);
  if (typeof node === 'string') return structure.has(under) ? node : hide(node);
  if (Array.isArray(node)) return node.map((item) => hideOutsideOfStructure(item, hide, under, depth + 1));
  if (!isTree(node)) return node;
  return mapTree(node, (value, key) => hideOutsideOfStructure(value, hide, key, depth + 1));
}
