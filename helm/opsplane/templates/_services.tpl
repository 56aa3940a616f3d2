{{/*
What the chart knows of each service besides its values: whether it has a database, how many connections a replica opens to it at most
(`connections` unless DATABASE_POOL_SIZE is set, and `sessions` as tenants unless DATA_SESSIONS is), the variables it takes from its
Secret (those of `optional` where it has them), and whether it calls what tenants name. A test compares it with the services.
*/}}
{{- define "opsplane.catalogue" -}}
settings:
  database: true
  connections: 5
  secret: [OPSPLANE_MASTER_KEY, AUDIT_SIGNING_KEY]
  optional: [OPSPLANE_PREVIOUS_MASTER_KEYS, SMTP_URL, SMTP_FROM]
  origin: true
  outbound: true
itsm:
  database: true
  connections: 7
  optional: [EMBEDDINGS_API_KEY]
  outbound: true
dispatcher:
  database: true
  connections: 6
  secret: [OPSPLANE_MASTER_KEY]
  optional: [OPSPLANE_PREVIOUS_MASTER_KEYS]
  outbound: true
integrations:
  database: true
  connections: 5
  outbound: true
database-studio:
  database: true
  connections: 5
  sessions: 10
workflows:
  database: true
  connections: 5
  outbound: true
sdk:
  database: true
  connections: 5
  secret: [OPSPLANE_MASTER_KEY]
  optional: [OPSPLANE_PREVIOUS_MASTER_KEYS]
  outbound: true
analytics:
  database: true
  connections: 6
  optional: [EXPORT_S3_ACCESS_KEY_ID, EXPORT_S3_SECRET_ACCESS_KEY]
  origin: true
  outbound: true
apps:
  database: true
  connections: 5
gateway:
  origin: true
{{- end -}}

{{/* Variables from the Secret of a service: required and optional ones. Takes the catalogue's entry. */}}
{{- define "opsplane.secretNames" -}}
{{- $database := ternary (list "DATABASE_URL" "CURSOR_SECRET") list (default false .database) -}}
required: {{ concat (list "NATS_URL" "SERVICE_PRIVATE_KEY" "TRUSTED_SERVICE_KEYS") $database (default list .secret) | toJson }}
optional: {{ concat (list "INSTALLATION_ID" "PREVIOUS_SERVICE_PRIVATE_KEYS" "OTEL_EXPORTER_OTLP_HEADERS") (default list .optional) | toJson }}
{{- end -}}

{{/*
How many connections to Postgres all replicas open at most: { services, tenants, most }, of which services' may go through a pooler.
`most` counts all, while an update replaces the pods.
*/}}
{{- define "opsplane.connections" -}}
{{- $services := 0 -}}
{{- $tenants := 0 -}}
{{- range $name, $entry := include "opsplane.catalogue" . | fromYaml -}}
{{- if $entry.database -}}
{{- $service := include "opsplane.service" (dict "root" $ "name" $name) | fromJson -}}
{{- $replicas := ternary $service.autoscaling.maxReplicas $service.replicas $service.autoscaling.enabled | int -}}
{{- $surge := $service.strategy.maxSurge -}}
{{- if kindIs "string" $surge -}}
{{- $surge = divf (mulf $replicas (trimSuffix "%" $surge)) 100 | ceil -}}
{{- end -}}
{{- $pods := add $replicas (int $surge) | int -}}
{{- $services = add $services (mul $pods (default $entry.connections $service.config.DATABASE_POOL_SIZE | int)) -}}
{{- $tenants = add $tenants (mul $pods (default (default 0 $entry.sessions) $service.config.DATA_SESSIONS | int)) -}}
{{- end -}}
{{- end -}}
{{- dict "services" $services "tenants" $tenants "most" (add $services $tenants) | toJson -}}
{{- end -}}
