const endings = [
  ...[
    'bucket',
    'database',
    'volume',
    'volumeclaim',
    'disk',
    'filesystem',
    'fileshare',
    'snapshot',
    'dataset',
  ],
  ...['repository', 'vault', 'secret', 'queue', 'storageaccount', 'cryptokey', 'keyring', 'collection'],
  ...['dbinstance', 'dbcluster', 'sqlinstance', 'sqlserver', 'databaseinstance', 'databasecluster'],
];
/** A route table holds no data. */
const wholeNames: ReadonlySet<string> = new Set(['table', 'key']);
/** In these modules even an "Instance" or a "Cluster" is a database. */
const databaseModules =
  /[:/](?:rds|sql|docdb|neptune|redshift|elasticache|memorydb|spanner|bigtable|alloydb|redis|dbfor\w+|documentdb)[:/]/;

/**
 * Whether to delete a resource of this type may be to lose data: a guess from its name ("aws:s3/bucket:Bucket"). It
 * makes a change stand out and decides nothing.
 */
export function mayHoldData(type: string): boolean {
  const all = type.toLowerCase();
  const name = (all.split(':').at(-1) ?? '').replace(/v\d+$/, '');
  if (wholeNames.has(name) || endings.some((ending) => name.endsWith(ending))) return true;
  return databaseModules.test(all) && /(?:instance|cluster|server)$/.test(name);
}
