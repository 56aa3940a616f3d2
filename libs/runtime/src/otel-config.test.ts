import { describe, expect, test } from '@jest/globals'
import { baseConfig, parseConfig } from './config.js'

const parse = (env: Record<string, string>) =>
  parseConfig(baseConfig, { SERVICE_PRIVATE_KEY: 'key', TRUSTED_SERVICE_KEYS: '{}', ...env })

describe('OpenTelemetry variables', () => {
  test('have the names and formats of the OpenTelemetry specification', () => {
    const config = parse({
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a=b, tenant=c%2Cd',
      OTEL_EXPORTER_OTLP_TIMEOUT: '5000',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging,region=eu%20west',
      OTEL_SERVICE_NAME: 'desk',
      OTEL_SDK_DISABLED: 'true',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    })
    expect(config).toMatchObject({
      otelExporterOtlpHeaders: { 'api-key': 'a=b', tenant: 'c,d' },
      otelExporterOtlpTimeout: 5_000,
      otelResourceAttributes: { 'deployment.environment.name': 'staging', region: 'eu west' },
      otelServiceName: 'desk',
      otelSdkDisabled: true,
      otelTracesSampler: 'parentbased_traceidratio',
    })
  })

  test.each([
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'region'],
    ['OTEL_RESOURCE_ATTRIBUTES', '=eu'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'region=%'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ])('are rejected when they cannot be honoured: %s=%s', (name, value) => {
    expect(() => parse({ [name]: value })).toThrow(name)
  })
})
