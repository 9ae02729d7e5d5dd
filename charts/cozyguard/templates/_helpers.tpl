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

{{- define "cozyguard.auditSelector" -}}
app.kubernetes.io/name: cozyguard
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: audit
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
{{- if and .Values.audit.enabled (eq .Values.audit.mode "leader") }}
- --audit-every={{ .Values.audit.everyHours }}
{{- with .Values.audit.report }}
- --audit-report={{ . }}
{{- end }}
{{- end }}
- --workers={{ .Values.workers }}
- --log-level={{ .Values.logLevel }}
- --drain-seconds={{ .Values.drainSeconds }}
{{- end -}}

{{- /* Rights of whoever decides: webhook and audit alike. */ -}}
{{- define "cozyguard.lookups" -}}
# What policies look up. A kind is watched as a whole, or, where all of them name its namespace or object, no more than
# that; but a Role in a namespace that not every cluster has would make the release fail.
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [configmaps, nodes]
  verbs: [list, watch]
- apiGroups: [cozystack.io]
  resources: [packages, packagesources]
  verbs: [list, watch]
- apiGroups: [apps.cozystack.io]
  resources: [kuberneteses, kubernetesnodeses]
  verbs: [list, watch]
- apiGroups: [infrastructure.cluster.x-k8s.io]
  resources: [kubevirtmachinetemplates]
  verbs: [list, watch]
- apiGroups: [kubevirt.io]
  resources: [virtualmachines]
  verbs: [list, watch]
- apiGroups: [kubevirt.io]
  resources: [kubevirts]
  resourceNames: [kubevirt]
  verbs: [list, watch]
{{- range .Values.rbac.lookups }}
- apiGroups: {{ toJson .apiGroups }}
  resources: {{ toJson .resources }}
  verbs: [list, watch]
{{- end }}
{{- end -}}

{{- define "cozyguard.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "cozyguard.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}
