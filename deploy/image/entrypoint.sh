#!/bin/sh
# The name of a service runs it; anything else is a command of the operator: migrate, bootstrap, secrets, rebuild, …
# OPSPLANE_ENV_FILE names a file with the environment, where there is no better way to hand it over.
set -eu

command=${1:-}
case $command in
  */* | .*) service='' ;;
  *) service=/opsplane/services/$command/bundle/main.cjs ;;
esac
if [ -n "$command" ] && [ -f "$service" ]; then
  set -- "$service"
else
  set -- /opsplane/deploy/install/bundle/main.cjs "$@"
fi
if [ -n "${OPSPLANE_ENV_FILE:-}" ]; then
  set -- "--env-file=$OPSPLANE_ENV_FILE" "$@"
fi
# Collecting a heap takes one core besides that of the service, and no more: docs/adr/history/118-stalls-at-half-load.md.
exec node --v8-pool-size=1 "$@"
