import { createOutboundHttp, openOutbound } from '@opsplane/http'
import { ConfigError } from '@opsplane/runtime'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import type { AnalyticsConfig } from '../config.js'
import { natsStorage } from './nats-storage.js'
import type { ObjectStorage } from './object-storage.js'
import { s3Storage } from './s3-storage.js'

/**
 * Opens the configured storage: S3 if a bucket is configured, otherwise the NATS Object Store. Throws
 * `ConfigError`.
 */
export async function openStorage({
  config,
  link,
  names,
}: Pick<ServiceContext<AnalyticsConfig>, 'config' | 'link' | 'names'>): Promise<{
  storage: ObjectStorage
  background: BackgroundWork[]
}> {
  if (config.exportS3Bucket === undefined) {
    const bucket = { bucket: names.exportsBucket, maxBytes: config.exportNatsMaxBytes }
    return {
      storage: natsStorage(link, { ...bucket, replicas: config.natsStreamReplicas ?? 1 }),
      background: [],
    }
  }
  const { exportS3Endpoint, exportS3AccessKeyId, exportS3SecretAccessKey } = config
  if (!exportS3Endpoint || !exportS3AccessKeyId || !exportS3SecretAccessKey)
    throw new ConfigError([
      'EXPORT_S3_BUCKET needs EXPORT_S3_ENDPOINT, EXPORT_S3_ACCESS_KEY_ID and EXPORT_S3_SECRET_ACCESS_KEY',
    ])
  const outbound = await openOutbound({
    caFile: config.exportS3CaFile,
    allowedCidrs: config.exportS3AllowedCidrs,
    allowHttp: config.exportS3AllowHttp,
  })
  const http = createOutboundHttp(outbound)
  const storage = s3Storage({
    ...{ endpoint: exportS3Endpoint, region: config.exportS3Region, bucket: config.exportS3Bucket },
    ...{ prefix: config.exportS3Prefix, http },
    ...{ accessKeyId: exportS3AccessKeyId, secretAccessKey: exportS3SecretAccessKey },
  })
  return { storage, background: [outbound, http] }
}
