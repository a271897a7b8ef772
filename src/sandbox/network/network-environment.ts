/** The variables by which programs find the run's proxy and the certificates. Pure. */
import { certificatesInside } from '../launching/host-tree.ts';

export const proxyPort = 3128;

const proxyUrl = `http://127.0.0.1:${proxyPort}`;
/** Pulumi and its plugins speak gRPC over loopback, and gRPC honours proxies. */
const direct = '127.0.0.1,localhost,::1';

/** Both spellings: curl ignores HTTP_PROXY, others read nothing else. */
const proxyVariables: Readonly<Record<string, string>> = {
  HTTP_PROXY: proxyUrl,
  http_proxy: proxyUrl,
  HTTPS_PROXY: proxyUrl,
  https_proxy: proxyUrl,
  ALL_PROXY: proxyUrl,
  all_proxy: proxyUrl,
  NO_PROXY: direct,
  no_proxy: direct,
  // Node 24 ignores all of the above without it.
  NODE_USE_ENV_PROXY: '1',
};

const certificateVariables = [
  'SSL_CERT_FILE',
  'NODE_EXTRA_CA_CERTS',
  'npm_config_cafile',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'PIP_CERT',
  'REQUESTS_CA_BUNDLE',
  'AWS_CA_BUNDLE',
  'CARGO_HTTP_CAINFO',
  'CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE',
  'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH',
  'HTTPLIB2_CA_CERTS',
  'NIX_SSL_CERT_FILE',
];

/** A stack may bring certificates of its own; without our proxy nothing would work. */
export function networkEnvironment(
  environment: Readonly<Record<string, string>>,
  hasCertificates: boolean,
): Record<string, string> {
  const certificates = hasCertificates ? certificateVariables : [];
  return {
    ...Object.fromEntries(certificates.map((name) => [name, certificatesInside])),
    ...environment,
    ...proxyVariables,
  };
}
