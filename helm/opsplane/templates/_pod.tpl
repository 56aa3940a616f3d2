{{/* A probe of a service. Takes root, name, path and timing. Who has to show a certificate asks from within. */}}
{{- define "opsplane.probe" -}}
{{- $tls := and .root.Values.internalTls.enabled (ne .name "gateway") -}}
{{- if and $tls .root.Values.internalTls.mutual }}
exec:
  command: [node, /opsplane/healthcheck.mjs, {{ .path }}]
{{- else }}
httpGet:
  path: {{ .path }}
  port: http
  scheme: {{ ternary "HTTPS" "HTTP" $tls }}
{{- end }}
{{ toYaml .timing }}
{{- end -}}

{{/* The pods of a service. Takes root, name, entry of the catalogue and its merged values. */}}
{{- define "opsplane.pod" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $secret := default (printf "%s-%s" $root.Values.secrets.prefix .name) $service.existingSecret -}}
{{- $names := include "opsplane.secretNames" .entry | fromYaml -}}
metadata:
  labels:
    {{- include "opsplane.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
    {{- with $service.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/config: {{ include "opsplane.config" . | sha256sum }}
    {{- /* Empty where the cluster is not asked, as by helm template. */}}
    checksum/secret: {{ (lookup "v1" "Secret" $root.Release.Namespace $secret).data | toJson | sha256sum }}
    {{- with $service.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "opsplane.serviceAccount" $root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $service.terminationGracePeriodSeconds }}
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $service.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $root.Values.hostAliases }}
  hostAliases: {{ toYaml . | nindent 4 }}
  {{- end }}
  securityContext: {{ toYaml $root.Values.podSecurityContext | nindent 4 }}
  {{- with $service.initContainers }}
  initContainers: {{ toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .name }}
      image: {{ include "opsplane.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [{{ .name }}]
      ports:
        - name: http
          containerPort: 8080
        {{- if $root.Values.metrics.enabled }}
        - name: metrics
          containerPort: 9090
        {{- end }}
      envFrom:
        - configMapRef:
            name: {{ include "opsplane.fullname" $root }}-{{ .name }}
        {{- with $service.extraEnvFrom }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      env:
        - name: INSTANCE_ID
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        {{- range $names.required }}
        - name: {{ . }}
          valueFrom:
            secretKeyRef: { name: {{ $secret }}, key: {{ . }} }
        {{- end }}
        {{- range $names.optional }}
        - name: {{ . }}
          valueFrom:
            secretKeyRef: { name: {{ $secret }}, key: {{ . }}, optional: true }
        {{- end }}
        {{- with $service.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      startupProbe: {{- include "opsplane.probe" (dict "root" $root "name" .name "path" "/healthz" "timing" $root.Values.probes.startup) | nindent 8 }}
      livenessProbe: {{- include "opsplane.probe" (dict "root" $root "name" .name "path" "/healthz" "timing" $root.Values.probes.liveness) | nindent 8 }}
      {{- /* That of the gateway asks every other service: one that is away must not take the entrance with it. */}}
      readinessProbe: {{- include "opsplane.probe" (dict "root" $root "name" .name "path" (ternary "/healthz" "/readyz" (eq .name "gateway")) "timing" $root.Values.probes.readiness) | nindent 8 }}
      resources: {{ toYaml $service.resources | nindent 8 }}
      securityContext: {{ toYaml $root.Values.containerSecurityContext | nindent 8 }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
        {{- if $root.Values.internalTls.enabled }}
        - name: internal-tls
          mountPath: /etc/opsplane/tls
          readOnly: true
        {{- end }}
        {{- with $service.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    {{- with $service.sidecars }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    - name: tmp
      emptyDir:
        sizeLimit: {{ $service.tmpSize }}
    {{- if $root.Values.internalTls.enabled }}
    - name: internal-tls
      secret:
        secretName: {{ include "opsplane.internalTlsSecret" $root }}
    {{- end }}
    {{- with $service.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $service.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $service.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $service.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- if $service.topologySpread.enabled }}
  topologySpreadConstraints:
    {{- range $service.topologySpread.topologyKeys }}
    - maxSkew: {{ $service.topologySpread.maxSkew }}
      topologyKey: {{ . }}
      whenUnsatisfiable: {{ $service.topologySpread.whenUnsatisfiable }}
      labelSelector:
        matchLabels:
          {{- include "opsplane.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ $.name }}
    {{- end }}
  {{- end }}
{{- end -}}
