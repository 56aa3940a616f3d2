{{- define "opsplane.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "opsplane.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "opsplane.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "opsplane.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "opsplane.selector" -}}
app.kubernetes.io/name: {{ include "opsplane.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "opsplane.labels" -}}
{{ include "opsplane.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: opsplane
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "opsplane.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "opsplane.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "opsplane.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What holds for one service: the defaults, with what is said of it instead, key by key. Takes root and name. */}}
{{- define "opsplane.service" -}}
{{- $merged := deepCopy .root.Values.defaults -}}
{{- range $key, $value := index .root.Values.services .name -}}
{{- if and (kindIs "map" $value) (kindIs "map" (index $merged $key)) -}}
{{- range $inner, $own := $value -}}
{{- $_ := set (index $merged $key) $inner $own -}}
{{- end -}}
{{- else -}}
{{- $_ := set $merged $key $value -}}
{{- end -}}
{{- end -}}
{{- toJson $merged -}}
{{- end -}}

{{/* A number without an exponent. */}}
{{- define "opsplane.text" -}}
{{- if and (kindIs "float64" .) (eq (float64 (int64 .)) .) -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{/* JSON object of every service with a database to its base URL. */}}
{{- define "opsplane.serviceUrls" -}}
{{- $urls := dict -}}
{{- range $name, $entry := include "opsplane.catalogue" . | fromYaml -}}
{{- if $entry.database -}}
{{- $_ := set $urls $name (include "opsplane.serviceUrl" (dict "root" $ "name" $name)) -}}
{{- end -}}
{{- end -}}
{{- toJson $urls -}}
{{- end -}}

{{- define "opsplane.serviceUrl" -}}
{{ ternary "https" "http" .root.Values.internalTls.enabled }}://{{ include "opsplane.fullname" .root }}-{{ .name }}:8080
{{- end -}}

{{/* Label of every series of this release. */}}
{{- define "opsplane.installation" -}}
{{- default (printf "%s.%s" .Release.Namespace .Release.Name) .Values.metrics.installation -}}
{{- end -}}

{{/* Names of the hosts of the ingress, as { names: [] }. */}}
{{- define "opsplane.ingressHosts" -}}
{{- $names := list -}}
{{- range .Values.ingress.hosts -}}
{{- if kindIs "map" . -}}
{{- $names = append $names .host -}}
{{- else -}}
{{- $names = append $names . -}}
{{- end -}}
{{- end -}}
{{- dict "names" $names | toJson -}}
{{- end -}}

{{- define "opsplane.internalTlsSecret" -}}
{{- default (printf "%s-internal-tls" (include "opsplane.fullname" .)) .Values.internalTls.existingSecret -}}
{{- end -}}

{{- define "opsplane.internalTlsEnv" -}}
{{- if .Values.internalTls.enabled }}
INTERNAL_TLS_CERT_FILE: /etc/opsplane/tls/tls.crt
INTERNAL_TLS_KEY_FILE: /etc/opsplane/tls/tls.key
INTERNAL_TLS_CA_FILE: /etc/opsplane/tls/ca.crt
INTERNAL_TLS_MUTUAL: {{ .Values.internalTls.mutual | quote }}
{{- end }}
{{- end -}}

{{/* Everything a service is told that is no secret. Takes root, name, entry of the catalogue and its merged values. */}}
{{- define "opsplane.config" -}}
HOST: 0.0.0.0
PORT: '8080'
DRAIN_DELAY_MS: {{ mul (int .service.preStopSeconds) 1000 | quote }}
{{- with .root.Values.tracing.endpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ . | quote }}
{{- if not (kindIs "invalid" $.root.Values.tracing.sampling) }}
OTEL_TRACES_SAMPLER_ARG: {{ $.root.Values.tracing.sampling | quote }}
{{- end }}
{{- end }}
{{- if .root.Values.metrics.enabled }}
METRICS_HOST: 0.0.0.0
METRICS_PORT: '9090'
{{- end }}
SERVICE_URLS: {{ include "opsplane.serviceUrls" .root | quote }}
{{- if .root.Values.nats.prefix }}
NATS_PREFIX: {{ .root.Values.nats.prefix | quote }}
{{- end }}
{{- if .entry.database }}
NATS_STREAM_REPLICAS: {{ include "opsplane.text" .root.Values.nats.streamReplicas | quote }}
{{- end }}
{{- if .entry.origin }}
PUBLIC_ORIGIN: {{ .root.Values.publicOrigin | quote }}
{{- end }}
{{- with .root.Values.limits }}
LIMITS: {{ toJson . | quote }}
{{- end }}
{{- with .root.Values.workspaceLimits }}
WORKSPACE_LIMITS: {{ toJson . | quote }}
{{- end }}
{{- include "opsplane.internalTlsEnv" .root }}
{{- if eq .name "gateway" }}
OPSPLANE_PLAIN_PORT: 'true'
{{- with .root.Values.appsOrigin }}
APPS_ORIGIN: {{ . | quote }}
{{- end }}
{{- with .root.Values.trustedProxies }}
TRUST_PROXY_CIDRS: {{ join "," . | quote }}
{{- end }}
{{- end }}
{{- range $key, $value := .service.config }}
{{ $key }}: {{ include "opsplane.text" $value | quote }}
{{- end }}
{{- end -}}
