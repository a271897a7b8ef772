import { expect, test } from 'vitest';
import { mayHoldData } from '../../../src/runs/plan/holds-data.ts';

test.each([
  ['aws:s3/bucket:Bucket', true],
  ['aws:s3/bucketV2:BucketV2', true],
  ['aws:rds/instance:Instance', true],
  ['aws:rds/cluster:Cluster', true],
  ['aws:dynamodb/table:Table', true],
  ['gcp:sql/databaseInstance:DatabaseInstance', true],
  ['azure-native:storage:StorageAccount', true],
  ['kubernetes:core/v1:PersistentVolumeClaim', true],
  ['aws:s3/bucketPolicy:BucketPolicy', false],
  ['aws:ec2/instance:Instance', false],
  ['aws:ec2/routeTable:RouteTable', false],
  ['aws:eks/cluster:Cluster', false],
  ['aws_s3_bucket', true],
  ['aws_dynamodb_table', true],
  ['aws_rds_cluster', true],
  ['aws_db_instance', true],
  ['google_sql_database_instance', true],
  ['azurerm_mssql_server', true],
  ['azurerm_storage_account', true],
  ['kubernetes_persistent_volume_claim_v1', true],
  ['aws_s3_bucket_policy', false],
  ['aws_route_table', false],
  ['aws_eks_cluster', false],
  ['aws_instance', false],
  ['terraform_data', false],
  ['', false],
])('%s may hold data: %s', (type, holds) => {
  expect(mayHoldData(type)).toBe(holds);
});
