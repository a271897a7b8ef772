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
/** The same of types that are one name with its module: `aws_dynamodb_table`. */
const endingsWithModule = [
  'dynamodbtable',
  'bigquerytable',
  'bigtabletable',
  'storagetable',
  'kmskey',
  'keyvaultkey',
];
/** In these modules even an "Instance" or a "Cluster" is a database. */
const databaseModules =
  /[:/_](?:rds|(?:ms|my|postgre)?sql|docdb|neptune|redshift|elasticache|memorydb|spanner|bigtable|alloydb|redis|dbfor\w+|documentdb)[:/_]/;

/**
 * Whether to delete a resource of this type may be to lose data: a guess from its name ("aws:s3/bucket:Bucket",
 * "aws_s3_bucket"). It makes a change stand out and decides nothing.
 */
export function mayHoldData(type: string): boolean {
  const all = type.toLowerCase();
  const name = (all.split(':').at(-1) ?? '').replaceAll('_', '').replace(/v\d+$/, '');
  const isData = (ending: string) => name.endsWith(ending);
  if (wholeNames.has(name) || endings.some(isData) || endingsWithModule.some(isData)) return true;
  return databaseModules.test(all) && /(?:instance|cluster|server)$/.test(name);
}
