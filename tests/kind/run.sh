#!/usr/bin/env bash
# `make kind-e2e`: image, chart and pods on a real cluster, then the end-to-end suite. Needs docker, kind, helm, kubectl.
#
#   KIND_IMAGE=kindest/node:v1.34.0   another Kubernetes than kind's own
#   KEEP=1                            leave the cluster, to look around
set -euo pipefail
cd "$(dirname "$0")/../.."

cluster=cozyguard-e2e
image=cozyguard:e2e
folder=$(mktemp -d)
export KUBECONFIG=$folder/kubeconfig

main() {
  need docker kind helm kubectl
  trap leave EXIT
  say "a cluster, and the kinds that policies look at"
  kind create cluster --name "$cluster" --config tests/kind/cluster.yaml ${KIND_IMAGE:+--image "$KIND_IMAGE"} --wait 3m
  kubectl apply --server-side --filename tests/controlplane/crds
  kubectl wait --for=condition=Established --timeout=60s --filename tests/controlplane/crds

  say "the suite, with a server on this machine"
  COZYGUARD_E2E_KUBECONFIG=$KUBECONFIG COZYGUARD_E2E_ADDRESS=$(gateway) .venv/bin/pytest tests/e2e

  say "the image and the chart"
  docker build --tag "$image" .
  kind load docker-image --name "$cluster" "$image"
  kubectl create namespace cozy-system
  helm install cozyguard charts/cozyguard --namespace cozyguard --create-namespace --wait --timeout 3m \
    --set image.repository="${image%:*}" --set image.tag="${image#*:}" --set image.pullPolicy=Never
  until_ok "the webhooks are registered" registered
  until_ok "a broken Package is denied" denied
  kubectl apply --dry-run=server --filename examples/manifests/allowed.yaml

  say "a rollout, while requests go on"
  kubectl --namespace cozyguard rollout restart deployment/cozyguard
  answered_while_rolling

  say "an uninstall, after which nobody is asked"
  helm uninstall cozyguard --namespace cozyguard --wait
  if registered; then
    fail "the webhook configurations are still there"
  fi
  kubectl apply --dry-run=server --filename examples/manifests/gpu-operator.yaml
  say "all is well"
}

# The address of this machine as containers know it.
gateway() {
  docker network inspect kind --format '{{range .IPAM.Config}}{{.Gateway}} {{end}}' | tr ' ' '\n' | grep -m1 '\.'
}

registered() {
  local kind
  for kind in validating mutating; do
    kubectl get "${kind}webhookconfiguration" cozyguard --output=jsonpath='{.webhooks[*].name}' 2> /dev/null |
      grep -q cozyguard.io || return 1
  done
}

denied() {
  local shown
  if shown=$(kubectl apply --dry-run=server --filename examples/manifests/gpu-operator.yaml 2>&1); then
    return 1
  fi
  grep -q package-variant-known <<< "$shown"
}

answered_while_rolling() {
  local asked=0
  until kubectl --namespace cozyguard rollout status deployment/cozyguard --timeout=1s > /dev/null 2>&1; do
    denied || fail "request $asked was not denied"
    asked=$((asked + 1))
    [[ $asked -lt 500 ]] || fail "the rollout does not end"
  done
  say "$asked requests, all of them denied"
}

until_ok() {
  local words=$1 tries
  shift
  for ((tries = 0; tries < 60; tries++)); do
    if "$@"; then
      return
    fi
    sleep 1
  done
  fail "waited in vain: $words"
}

need() {
  local program
  for program; do
    command -v "$program" > /dev/null || { echo "kind-e2e needs $program on the PATH" >&2 && exit 2; }
  done
}

say() { echo "== $*"; }

fail() {
  echo "kind-e2e: $*" >&2
  kubectl --namespace cozyguard get pods --output wide >&2 || true
  kubectl --namespace cozyguard logs deployment/cozyguard --tail 50 >&2 || true
  exit 1
}

leave() {
  if [[ -n ${KEEP:-} ]]; then
    say "kept: export KUBECONFIG=$KUBECONFIG; kind delete cluster --name $cluster"
  else
    kind delete cluster --name "$cluster"
    rm -rf "$folder"
  fi
}

main "$@"
