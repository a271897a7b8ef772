/**
 * An example for every body of the document: the one that its schema has, or one made of those of its parts. What a schema
 * leaves open (a string, a number) needs an example of its own, or there is none.
 */
interface Schema {
  readonly $ref?: string;
  readonly example?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

type Schemas = Readonly<Record<string, Schema>>;
export type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;

export function withExamples(content: Content, schemas: Schemas): Content {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => {
      const example = media.example ?? (media.schema && exampleOf(media.schema, schemas));
      return [type, { ...media, ...(example === undefined ? {} : { example }) }];
    }),
  );
}

/** Undefined without one. Null is one. */
export function exampleOf(schema: Schema, schemas: Schemas): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema.$ref !== undefined) {
    const named = schemas[schema.$ref.replace('#/components/schemas/', '')];
    return named && exampleOf(named, schemas);
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const types = [schema.type].flat();
  if (types.includes('null')) return null;
  if (types.includes('boolean')) return true;
  if (types.includes('array')) return ofArray(schema, schemas);
  return types.includes('object') ? ofObject(schema, schemas) : undefined;
}

function ofArray({ items }: Schema, schemas: Schemas): unknown {
  const item = items && exampleOf(items, schemas);
  return item === undefined ? undefined : [item];
}

/** Of all that must be there. */
function ofObject({ properties = {}, required = [] }: Schema, schemas: Schemas): unknown {
  const fields = required.map((name) => [name, exampleOf(properties[name] ?? {}, schemas)] as const);
  if (fields.length === 0 || fields.some(([, value]) => value === undefined)) return undefined;
  return Object.fromEntries(fields);
}
