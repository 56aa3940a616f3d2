{{/* A job of the operator's command. Takes root, component, command, env (a list), serviceAccount and resources. */}}
{{- define "opsplane.jobPod" -}}
metadata:
  labels:
    {{- include "opsplane.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  restartPolicy: Never
  serviceAccountName: {{ .serviceAccount }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  securityContext: {{ toYaml .root.Values.podSecurityContext | nindent 4 }}
  containers:
    - name: {{ .component }}
      image: {{ include "opsplane.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: [{{ .command }}]
      env: {{ toYaml .env | nindent 8 }}
      resources: {{ toYaml .resources | nindent 8 }}
      securityContext: {{ toYaml .root.Values.containerSecurityContext | nindent 8 }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
        {{- if and .tls .root.Values.internalTls.enabled }}
        - name: internal-tls
          mountPath: /etc/opsplane/tls
          readOnly: true
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: { sizeLimit: 64Mi }
    {{- if and .tls .root.Values.internalTls.enabled }}
    - name: internal-tls
      secret:
        secretName: {{ include "opsplane.internalTlsSecret" .root }}
    {{- end }}
{{- end -}}

{{/* Variables from a Secret. Takes secret and names. */}}
{{- define "opsplane.secretEnv" -}}
{{- $env := list -}}
{{- range .names -}}
{{- $env = append $env (dict "name" . "valueFrom" (dict "secretKeyRef" (dict "name" $.secret "key" .))) -}}
{{- end -}}
{{- toYaml $env -}}
{{- end -}}
