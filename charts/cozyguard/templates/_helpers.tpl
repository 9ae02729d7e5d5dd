{{- define "cozyguard.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* What pods are selected by: never to change, a Deployment's selector cannot. */ -}}
{{- define "cozyguard.selector" -}}
app.kubernetes.io/name: cozyguard
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: webhook
{{- end -}}

{{- define "cozyguard.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: cozyguard
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "cozyguard.image" -}}
{{- with .Values.image -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ with .digest }}@{{ . }}{{ end }}
{{- end -}}
{{- end -}}

{{- /* The Secret of the certificate, whoever keeps it. */ -}}
{{- define "cozyguard.tlsSecret" -}}
{{- if eq .Values.certificates.mode "files" -}}
{{ required "certificates.files.secretName: want the Secret with tls.crt and tls.key" .Values.certificates.files.secretName }}
{{- else -}}
{{ include "cozyguard.fullname" . }}-tls
{{- end -}}
{{- end -}}

{{- define "cozyguard.args" -}}
- serve
- --in-cluster
- --register={{ include "cozyguard.fullname" . }}
- --service={{ include "cozyguard.fullname" . }}
{{- if eq .Values.certificates.mode "self" }}
- --tls-secret={{ include "cozyguard.tlsSecret" . }}
{{- else }}
- --tls-cert=/etc/cozyguard/tls/tls.crt
- --tls-key=/etc/cozyguard/tls/tls.key
{{- end }}
{{- if eq .Values.certificates.mode "cert-manager" }}
- --inject-ca-from={{ .Release.Namespace }}/{{ include "cozyguard.fullname" . }}
{{- else if eq .Values.certificates.mode "files" }}
- --ca-bundle=/etc/cozyguard/{{ if .Values.certificates.files.caBundle }}config{{ else }}tls{{ end }}/ca.crt
{{- end }}
- --break-glass-group={{ .Values.webhook.breakGlassGroup }}
- --webhook-timeout={{ .Values.webhook.timeoutSeconds }}
- --config=/etc/cozyguard/config/cozyguard.yaml
{{- if .Values.extraPolicies }}
- --add-policies=/etc/cozyguard/policies
{{- end }}
- --workers={{ .Values.workers }}
- --log-level={{ .Values.logLevel }}
- --drain-seconds={{ .Values.drainSeconds }}
{{- end -}}
