# Journeyman in a container. State lives in /data: mount a volume there, since an
# agent's identity that is lost cannot be asked for again.
#
#   docker build --tag journeyman .
#   docker run --read-only --tmpfs /tmp --volume journeyman:/data \
#     --env JOURNEYMAN_NETWORK__BASE_URL=https://network.example journeyman

FROM python:3.13-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build

# Locked dependencies first: an edit of the code does not install them again.
# The page and OpenTelemetry are in it, and off: see docs/how-to/watch.md and traces.md.
# So is what ask_llm needs, which is off without a key: see docs/how-to/llm-strategy.md.
# With --build-arg LOCK=requirements/web.lock, it is smaller: it has the page only;
# with LOCK=requirements/cluster.lock, strategies can run on a Dask cluster;
# with LOCK=requirements/notify.lock, Apprise sends notifications.
ARG LOCK=requirements/image.lock
COPY requirements requirements
RUN python -m venv --without-pip /app/venv \
 && pip --python /app/venv/bin/python install --require-hashes -r "$LOCK" \
 && pip install --require-hashes -r requirements/build.lock

COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY strategies strategies
RUN pip wheel --no-deps --no-build-isolation --wheel-dir dist . \
 && pip --python /app/venv/bin/python install --no-deps dist/*.whl


FROM python:3.13-slim
LABEL org.opencontainers.image.title="Journeyman" \
      org.opencontainers.image.description="An autonomous agent daemon for an agent network" \
      org.opencontainers.image.licenses="MIT"

ENV PATH=/app/venv/bin:$PATH \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    JOURNEYMAN_DATA__DIRECTORY=/data \
    JOURNEYMAN_STRATEGIES__DIRECTORY=/strategies \
    JOURNEYMAN_STRATEGIES__READY=true

WORKDIR /app
COPY --from=build /app/venv venv
COPY config/journeyman.toml config/

# A uid that an operator chooses (--user 12345) has no account and belongs to the
# root group; so that group may write here. Mount your own strategies at /strategies;
# the ready ones are in the package.
RUN install --directory --owner=10001 --group=0 --mode=0770 /data \
 && install --directory --owner=10001 --group=0 --mode=0775 /strategies
VOLUME /data
USER 10001:0

STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 \
  CMD ["journeyman", "health"]
ENTRYPOINT ["journeyman"]
CMD ["run"]
