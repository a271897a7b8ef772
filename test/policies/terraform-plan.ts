/** A plan as `terraform show -json` writes it, with a secret masked: a replacement, a deletion, a read, a drift. */
export function aTerraformPlan() {
  const provider = 'registry.terraform.io/hashicorp/aws';
  const bucket = { mode: 'managed', type: 'aws_s3_bucket', name: 'logs', provider_name: provider };
  const values = { bucket: 'logs', tags: { owner: 'ops' }, force_destroy: false };
  const none = { before_sensitive: false, after_sensitive: false };
  return {
    format_version: '1.2',
    terraform_version: '1.9.8',
    variables: { env: { value: 'prod' }, password: { value: '[secret]' } },
    planned_values: {
      outputs: { url: { sensitive: false, type: 'string', value: 'https://logs.example.com' } },
      root_module: {
        resources: [{ ...bucket, address: 'aws_s3_bucket.logs', schema_version: 0, values }],
        child_modules: [{ address: 'module.db', resources: [] }],
      },
    },
    resource_drift: [
      {
        ...{ ...bucket, address: 'aws_s3_bucket.logs' },
        change: {
          ...{ ...none, actions: ['update'], after_unknown: {}, after: values },
          before: { ...values, tags: {} },
        },
      },
    ],
    resource_changes: [
      {
        ...{ ...bucket, address: 'aws_s3_bucket.logs', action_reason: 'replace_because_cannot_update' },
        change: {
          actions: ['delete', 'create'],
          ...{ before: { ...values, bucket: 'old-logs', id: 'old-logs' }, after: values },
          ...{ after_unknown: { id: true }, before_sensitive: {}, after_sensitive: { tags: {} } },
          replace_paths: [['bucket']],
        },
      },
      {
        ...{ address: 'module.db.aws_db_instance.main["eu"]', module_address: 'module.db', mode: 'managed' },
        ...{ type: 'aws_db_instance', name: 'main', index: 'eu', provider_name: provider },
        change: {
          ...{ actions: ['delete'], after: null, after_unknown: {}, after_sensitive: false },
          ...{ before: { password: '[secret]', size: 20 }, before_sensitive: { password: true } },
        },
      },
      {
        ...{ address: 'data.aws_region.here', mode: 'data', type: 'aws_region', name: 'here' },
        provider_name: provider,
        change: { ...none, actions: ['read'], before: null, after: {}, after_unknown: { name: true } },
      },
    ],
    output_changes: {
      url: {
        ...{ ...none, actions: ['create'], before: null, after_unknown: false },
        after: 'https://logs.example.com',
      },
    },
    prior_state: { format_version: '1.0', terraform_version: '1.9.8', values: { root_module: {} } },
    configuration: {
      provider_config: { aws: { name: 'aws', full_name: provider } },
      root_module: { resources: [], variables: { password: { sensitive: true } } },
    },
    timestamp: '2026-11-22T12:00:00Z',
    ...{ applyable: true, complete: true, errored: false },
  };
}
