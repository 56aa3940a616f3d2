{{/* Of the jobs and of the pod of helm test: where and as whom they run. Takes root and serviceAccount. */}}
{{- define "opsplane.jobPlace" -}}
restartPolicy: Never
serviceAccountName: {{ .serviceAccount }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.hostAliases }}
hostAliases: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.defaults.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.defaults.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.defaults.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext: {{ toYaml .root.Values.podSecurityContext | nindent 2 }}
{{- end -}}

{{/*
A job of the operator's command. Takes root, component, args, env (a list), serviceAccount and resources; tls where it calls a
service, and claim, a PersistentVolumeClaim that is mounted at /backups.
*/}}
{{- define "opsplane.jobPod" -}}
metadata:
  labels:
    {{- include "opsplane.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  {{- include "opsplane.jobPlace" . | nindent 2 }}
  containers:
    - name: {{ .component }}
      image: {{ include "opsplane.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ toYaml .args | nindent 8 }}
      env: {{ toYaml .env | nindent 8 }}
      resources: {{ toYaml .resources | nindent 8 }}
      securityContext: {{ toYaml .root.Values.containerSecurityContext | nindent 8 }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
        {{- if .claim }}
        - name: backups
          mountPath: /backups
        {{- end }}
        {{- if and .tls .root.Values.internalTls.enabled }}
        - name: internal-tls
          mountPath: /etc/opsplane/tls
          readOnly: true
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: { sizeLimit: 64Mi }
    {{- with .claim }}
    - name: backups
      persistentVolumeClaim:
        claimName: {{ . }}
    {{- end }}
    {{- if and .tls .root.Values.internalTls.enabled }}
    - name: internal-tls
      secret:
        secretName: {{ include "opsplane.internalTlsSecret" .root }}
    {{- end }}
{{- end -}}

{{/* Variables from a Secret. Takes secret and names, and optional: names of those it may lack. */}}
{{- define "opsplane.secretEnv" -}}
{{- $env := list -}}
{{- range .names -}}
{{- $env = append $env (dict "name" . "valueFrom" (dict "secretKeyRef" (dict "name" $.secret "key" .))) -}}
{{- end -}}
{{- range .optional -}}
{{- $env = append $env (dict "name" . "valueFrom" (dict "secretKeyRef" (dict "name" $.secret "key" . "optional" true))) -}}
{{- end -}}
{{- toYaml $env -}}
{{- end -}}
