{{- define "network-diagnostics.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 45 | trimSuffix "-" }}
{{- end }}

{{/* At most 45 characters, so that names with a suffix remain valid. */}}
{{- define "network-diagnostics.fullname" -}}
{{- $name := include "network-diagnostics.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 45 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 45 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 45 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Templates for one component take (dict "root" $ "component" "gateway"). */}}
{{- define "network-diagnostics.selectorLabels" -}}
app.kubernetes.io/name: {{ include "network-diagnostics.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "network-diagnostics.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "network-diagnostics.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{- define "network-diagnostics.metadata" -}}
name: {{ include "network-diagnostics.fullname" .root }}-{{ .component }}
namespace: {{ get . "namespace" | default .root.Release.Namespace }}
labels:
  {{- include "network-diagnostics.labels" . | nindent 2 }}
{{- end }}

{{- define "network-diagnostics.secret" -}}
{{- .Values.secrets.existing | default (include "network-diagnostics.fullname" .) }}
{{- end }}

{{- define "network-diagnostics.workerNamespace" -}}
{{- .Values.worker.namespace | default .Release.Namespace }}
{{- end }}

{{- define "network-diagnostics.image" -}}
{{- printf "%s:%s" .image.repository (.image.tag | default .root.Chart.AppVersion) | quote }}
imagePullPolicy: {{ .image.pullPolicy }}
{{- end }}

{{/* Mebibytes of a quantity such as 512Mi or 1Gi. */}}
{{- define "network-diagnostics.mebibytes" -}}
{{- if hasSuffix "Gi" . }}{{ mul (trimSuffix "Gi" . | int) 1024 }}{{ else }}{{ trimSuffix "Mi" . | int }}{{ end }}
{{- end }}

{{- define "network-diagnostics.goMemoryLimit" -}}
{{- div (mul (include "network-diagnostics.mebibytes" . | int) 7) 8 }}MiB
{{- end }}

{{/* The CIDRs of this cluster; a single address becomes one. */}}
{{- define "network-diagnostics.ownNetworks" -}}
{{- range $name := list "nodes" "loadBalancers" "pods" "services" }}
{{- range get $.Values.networks $name | default list }}
{{- if contains "/" . }}{{ . }}{{ else if contains ":" . }}{{ . }}/128{{ else }}{{ . }}/32{{ end }}
{{ end }}
{{- end }}
{{- end }}

{{/* Peers that are the public internet: no special-purpose network, and nothing of this cluster. */}}
{{- define "network-diagnostics.internet" -}}
{{- $all := concat (.Files.Lines "files/refused-networks.txt") (include "network-diagnostics.ownNetworks" . | splitList "\n") | uniq }}
- ipBlock:
    cidr: 0.0.0.0/0
    except:
      {{- range $all }}{{ if and . (not (contains ":" .)) }}
      - {{ . }}
      {{- end }}{{ end }}
- ipBlock:
    cidr: 2000::/3
    except:
      {{- range $all }}{{ if regexMatch "^[23][0-9a-f]{3}:" . }}
      - {{ . | quote }}
      {{- end }}{{ end }}
{{- end }}

{{/* Settings of the chart, and before them those of the operator: (dict "own" DICT "settings" DICT). A number of YAML is a
float, and would be printed as 1e+06. */}}
{{- define "network-diagnostics.environment" -}}
{{- range $name, $value := merge (dict) .settings .own }}
- name: {{ $name }}
  {{- if kindIs "float64" $value }}{{ $value = int64 $value }}{{ end }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}

{{/* What all pods have. */}}
{{- define "network-diagnostics.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with get .values "nodeSelector" }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with get .values "tolerations" }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with get .values "affinity" }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with get .values "priorityClassName" }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "network-diagnostics.spread" -}}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "network-diagnostics.selectorLabels" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}

{{- define "network-diagnostics.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "network-diagnostics.probes" -}}
readinessProbe:
  httpGet: {path: /readyz, port: http, scheme: {{ . }}}
  # A network plugin takes a moment to let a new pod connect where policies allow it.
  initialDelaySeconds: 5
  periodSeconds: 1
  timeoutSeconds: 3
  failureThreshold: 2
livenessProbe:
  httpGet: {path: /healthz, port: http, scheme: {{ . }}}
  periodSeconds: 10
  timeoutSeconds: 3
{{- end }}
