# The image of `cozyguard serve`. Everything it installs is pinned by hash in requirements.lock (`make lock`).
#
#   docker build --tag cozyguard:dev .
#
# Without a network: fetch the wheels first, and give them as a build context.
#
#   pip download --require-hashes --only-binary=:all: --dest wheelhouse -r requirements.lock -r requirements-build.lock
#   docker build --tag cozyguard:dev --build-context wheelhouse=wheelhouse --build-arg PIP_NO_INDEX=1 .

ARG BASE=python:3.13-slim-trixie@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285

# Stands in for the build context of that name.
FROM scratch AS wheelhouse
COPY LICENSE /

FROM ${BASE} AS builder
ARG PIP_NO_INDEX=0
ARG SOURCE_DATE_EPOCH=315532800
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1 PIP_ROOT_USER_ACTION=ignore \
    PIP_FIND_LINKS=/opt/wheelhouse PIP_ONLY_BINARY=:all: \
    XDG_CACHE_HOME=/var/cache/cozyguard
WORKDIR /opt/source

COPY requirements.lock requirements-build.lock ./
RUN --mount=type=bind,from=wheelhouse,target=/opt/wheelhouse \
    python -m venv --without-pip /opt/cozyguard \
    && python -m pip --python /opt/cozyguard install --require-hashes -r requirements.lock \
    && python -m pip install --require-hashes --target /opt/hatchling -r requirements-build.lock

COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY webhook webhook
COPY policies policies
COPY schemas schemas
RUN PYTHONPATH=/opt/hatchling python -m pip --python /opt/cozyguard wheel --no-deps --no-build-isolation \
      --wheel-dir /opt/wheels . \
    && python -m pip --python /opt/cozyguard install --no-deps --no-index /opt/wheels/*.whl

# Layers keep whole seconds, and the cache of compiled policies knows our modules by their times: set them first.
RUN find /opt/cozyguard -exec touch --no-dereference --date="@${SOURCE_DATE_EPOCH}" {} + \
    && /opt/cozyguard/bin/python -m compileall -q --invalidation-mode unchecked-hash /opt/cozyguard/lib \
    && mkdir -p /var/cache/cozyguard \
    && /opt/cozyguard/bin/cozyguard explain > /dev/null

FROM ${BASE}
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="cozyguard" \
      org.opencontainers.image.description="Policy as code for Cozystack clusters" \
      org.opencontainers.image.source="https://github.com/cozyguard/cozyguard" \
      org.opencontainers.image.documentation="https://github.com/cozyguard/cozyguard/blob/main/docs/install.md" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

# The base image ships its library uncompiled, and nothing can be written later. pip has nothing to do here.
RUN python -m pip uninstall --yes --root-user-action=ignore pip \
    && python -m compileall -q --invalidation-mode unchecked-hash /usr/local/lib/python3.13

COPY --from=builder /opt/cozyguard /opt/cozyguard
COPY --from=builder --chown=65532:65532 /var/cache/cozyguard /var/cache/cozyguard
ENV PATH=/opt/cozyguard/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 XDG_CACHE_HOME=/var/cache/cozyguard
USER 65532:65532
EXPOSE 8443 8080
ENTRYPOINT ["cozyguard"]
CMD ["serve"]
