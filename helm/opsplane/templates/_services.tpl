{{/*
What the chart knows of each service beside its values: whether it has a database, the variables it takes from its Secret
(those of `optional` where it has them), and whether it calls what tenants name. A test holds it against the services.
*/}}
{{- define "opsplane.catalogue" -}}
settings:
  database: true
  secret: [OPSPLANE_MASTER_KEY, AUDIT_SIGNING_KEY]
  optional: [OPSPLANE_PREVIOUS_MASTER_KEYS, SMTP_URL, SMTP_FROM]
  outbound: true
itsm:
  database: true
  optional: [EMBEDDINGS_API_KEY]
  outbound: true
dispatcher:
  database: true
  secret: [OPSPLANE_MASTER_KEY]
  optional: [OPSPLANE_PREVIOUS_MASTER_KEYS]
  outbound: true
integrations:
  database: true
  outbound: true
database-studio:
  database: true
workflows:
  database: true
  outbound: true
sdk:
  database: true
  secret: [OPSPLANE_MASTER_KEY]
  optional: [OPSPLANE_PREVIOUS_MASTER_KEYS]
  outbound: true
analytics:
  database: true
  optional: [EXPORT_S3_ACCESS_KEY_ID, EXPORT_S3_SECRET_ACCESS_KEY]
  origin: true
  outbound: true
apps:
  database: true
gateway:
  origin: true
{{- end -}}

{{/* Variables from the Secret of a service: required and optional ones. Takes the catalogue's entry. */}}
{{- define "opsplane.secretNames" -}}
{{- $database := ternary (list "DATABASE_URL" "CURSOR_SECRET") list (default false .database) -}}
required: {{ concat (list "NATS_URL" "SERVICE_PRIVATE_KEY" "TRUSTED_SERVICE_KEYS") $database (default list .secret) | toJson }}
optional: {{ concat (list "PREVIOUS_SERVICE_PRIVATE_KEYS" "OTEL_EXPORTER_OTLP_HEADERS") (default list .optional) | toJson }}
{{- end -}}
